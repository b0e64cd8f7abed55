import type { Tx } from "../sql.js";

/** Puts a started input back at the head of its session's lane, as if it had not started. What its turn left is the caller's matter. */
export function putInputBack(tx: Tx, inputId: string): void {
  tx.run("UPDATE inputs SET state = 'queued', execution_id = NULL, started_at = NULL WHERE input_id = ?", inputId);
  tx.run("UPDATE turn_totals SET started = started - 1");
}
