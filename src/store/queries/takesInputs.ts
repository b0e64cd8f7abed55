import type { Queryable } from "../sql.js";

/**
 * Whether a session goes on by itself to inputs that are queued for it: it is there, it is an agent's canonical one, whose queue the
 * ends of messages go to, and it is not paused behind an unknown outcome.
 */
export function takesInputs(from: Queryable, sessionId: string): boolean {
  const row = from.get<{ found: number }>(
    "SELECT 1 AS found FROM sessions WHERE session_id = ? AND bot_chat = 1 AND paused_execution_id IS NULL",
    sessionId,
  );
  return row !== undefined;
}
