import { defineCommand } from "../command.js";
import { noEffects, type DeliveryEffects } from "../deliveries/deliveryEffects.js";
import { requeueDelivery } from "../deliveries/requeueDelivery.js";
import type { Tx } from "../sql.js";
import type { ExecutionRow } from "./executionRow.js";
import { executionRow } from "./executionRow.js";
import { putInputBack } from "./putInputBack.js";
import { touchSession } from "./touchSession.js";

/** Starts of one input that may come to nothing; then it ends, so that an input which kills its gateway does not do so for ever. */
export const VAIN_STARTS = 3;

/** An execution of an owner that has died. */
export interface RequeueRequest {
  readonly executionId: string;
  /** The epoch that runs: what belongs to it is no dead owner's. */
  readonly epoch: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What became of it; `refused`: nothing has changed, and the execution is to be settled. */
export type RequeueResult =
  { readonly kind: "requeued"; readonly effects: DeliveryEffects } | { readonly kind: "refused" };

/**
 * Puts an input back at the head of its lane, where the store proves that nothing of its turn has started: a worker loads its runtime after
 * `Adopt`, the execution was never adopted, and its worker's processes are gone. The transcript is as it was before the claim, and the generation
 * stays raised, so that the execution remains refused. A child's input is not put back, because its parent is gone.
 */
export const requeueExecution = defineCommand<RequeueRequest, RequeueResult>({
  name: "execution.requeue",
  run(tx, { executionId, epoch, now }) {
    const execution = executionRow(tx, executionId);
    if (execution === undefined || execution.epoch >= epoch || !isUntouched(tx, execution)) return { kind: "refused" };
    const input = tx.get<{ delivery_id: string | null; vain_starts: number; child_depth: number }>(
      `SELECT delivery_id, vain_starts, child_depth FROM inputs JOIN sessions USING (session_id)
       WHERE input_id = ? AND inputs.state = 'started'`,
      execution.input_id,
    );
    if (input === undefined || input.child_depth > 0 || input.vain_starts + 1 >= VAIN_STARTS) {
      return { kind: "refused" };
    }
    tx.run(
      "UPDATE executions SET state = 'lost', outcome = 'cancelled', ended_at = ? WHERE execution_id = ?",
      now,
      executionId,
    );
    tx.run("UPDATE inputs SET vain_starts = vain_starts + 1 WHERE input_id = ?", execution.input_id);
    putInputBack(tx, execution.input_id);
    takeBackRow(tx, execution);
    touchSession(tx, execution.session_id, now);
    const effects = noEffects();
    if (input.delivery_id !== null) {
      requeueDelivery(tx, { deliveryId: input.delivery_id, executionId, now }, effects);
    }
    return { kind: "requeued", effects };
  },
});

/** Whether nothing of an execution can have started. */
function isUntouched(tx: Tx, { state, outcome, launch_id: launchId }: ExecutionRow): boolean {
  if (outcome !== null || (state !== "claimed" && state !== "assigned")) return false;
  const alive = "SELECT 1 FROM launches WHERE launch_id = ? AND gone_at IS NULL";
  return launchId === null || tx.get(alive, launchId) === undefined;
}

/** Removes the row that the claim wrote, if it wrote one: nothing was appended since, because the session was held. */
function takeBackRow(tx: Tx, { session_id: sessionId, execution_id: executionId }: ExecutionRow): void {
  const row = tx.get<{ row: number }>(
    "SELECT row FROM messages WHERE session_id = ? AND execution_id = ? AND role = 'user'",
    sessionId,
    executionId,
  );
  if (row === undefined) return;
  tx.run("DELETE FROM messages WHERE session_id = ? AND row = ?", sessionId, row.row);
  tx.run("UPDATE sessions SET rows = ? WHERE session_id = ?", row.row - 1, sessionId);
}
