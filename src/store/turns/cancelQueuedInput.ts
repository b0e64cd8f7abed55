import type { Tx } from "../sql.js";
import { noteChildEnd } from "./noteChildEnd.js";
import { touchSession } from "./touchSession.js";

/** Withdraws an input that has not started; false where it has, or does not exist. Its delivery is the caller's matter. */
export function cancelQueuedInput(tx: Tx, request: { readonly inputId: string; readonly now: number }): boolean {
  const row = tx.get<{ session_id: string }>(
    "SELECT session_id FROM inputs WHERE input_id = ? AND state = 'queued'",
    request.inputId,
  );
  if (row === undefined) return false;
  tx.run(
    "UPDATE inputs SET state = 'ended', outcome = 'cancelled', ended_at = ? WHERE input_id = ?",
    request.now,
    request.inputId,
  );
  tx.run("UPDATE turn_totals SET ended = ended + 1, ended_unstarted = ended_unstarted + 1");
  noteChildEnd(tx, { sessionId: row.session_id, outcome: "cancelled", text: "", now: request.now });
  touchSession(tx, row.session_id, request.now);
  return true;
}
