import type { Tx } from "../sql.js";

/** Raises a session's revision: viewers compare it to see whether anything changed. */
export function touchSession(tx: Tx, sessionId: string, now: number): void {
  tx.run("UPDATE sessions SET revision = revision + 1, updated_at = ? WHERE session_id = ?", now, sessionId);
}
