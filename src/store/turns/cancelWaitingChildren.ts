import type { Tx } from "../sql.js";
import { cancelQueuedInput } from "./cancelQueuedInput.js";

/** Withdraws the children of a turn that have not started: none of them may wait for a parent that has ended. */
export function cancelWaitingChildren(tx: Tx, executionId: string, now: number): void {
  const waiting = tx.all<{ input_id: string }>(
    `SELECT children.input_id FROM children JOIN inputs USING (input_id)
     WHERE children.execution_id = ? AND inputs.state = 'queued'`,
    executionId,
  );
  for (const { input_id: inputId } of waiting) cancelQueuedInput(tx, { inputId, now });
}
