import type { Queryable } from "../sql.js";

/** The commands that an agent may run without asking. */
export function grantedCommands(at: Queryable, agent: string): readonly string[] {
  return at
    .all<{ command: string }>("SELECT command FROM grants WHERE agent = ? ORDER BY granted_at", agent)
    .map(({ command }) => command);
}

/** Executions of a session that are looked through for what was approved for it: the last so many. */
const LOOKED_THROUGH = 2_000;

/**
 * The prompts of a session, encoded, to which a person said that the command may run in this session without asking again: in a turn of a
 * person's own, since the session's last reset.
 */
export function sessionApprovals(at: Queryable, sessionId: string): readonly Uint8Array[] {
  return at
    .all<{ request: Uint8Array }>(
      `WITH latest AS (SELECT execution_id, input_id FROM executions WHERE session_id = ?1 ORDER BY rowid DESC LIMIT ?2)
       SELECT request FROM latest CROSS JOIN prompts USING (execution_id) JOIN inputs USING (input_id)
       WHERE end = 'answered' AND answer = 'session' AND from_message = 0 AND prompts.created_at >= IFNULL(
         (SELECT messages.created_at FROM sessions JOIN messages USING (session_id)
          WHERE session_id = ?1 AND row = context_from_row - 1 AND context_from_row > 1), 0)
       ORDER BY prompts.created_at`,
      sessionId,
      LOOKED_THROUGH,
    )
    .map(({ request }) => request);
}
