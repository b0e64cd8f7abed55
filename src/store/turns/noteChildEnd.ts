import { cutToCodePoints } from "../../base/codePoints.js";
import type { Tx } from "../sql.js";
import type { StoredOutcome } from "./storedOutcome.js";

/** Longest answer that the ledger of children keeps; the whole one is in the child's transcript. */
const LEDGER_ANSWER = 65_536;

const STATES: Readonly<Record<StoredOutcome, string>> = {
  completed: "succeeded",
  failed: "failed",
  interrupted: "interrupted",
  cancelled: "interrupted",
  unknown: "unknown",
};

/** Writes the end of a child turn into its parent's ledger; nothing where the session is no child's. */
export function noteChildEnd(
  tx: Tx,
  end: { readonly sessionId: string; readonly outcome: StoredOutcome; readonly text: string; readonly now: number },
): void {
  tx.run(
    "UPDATE children SET state = ?, answer = ?, updated_at = ? WHERE session_id = ? AND state = 'dispatched'",
    STATES[end.outcome],
    cutToCodePoints(end.text, LEDGER_ANSWER),
    end.now,
    end.sessionId,
  );
}
