import { failureColumn } from "../storedFailure.js";
import type { Tx } from "../sql.js";
import { putInputBack } from "../turns/putInputBack.js";
import type { DeliveryEffects } from "./deliveryEffects.js";
import { noEffects } from "./deliveryEffects.js";
import { notBefore, retryOf, type EndedTurn, type RetryMode } from "./turnRetry.js";

/** The end of a turn that an input started. */
export interface TurnToRetry extends Omit<EndedTurn, "retried"> {
  readonly inputId: string;
  readonly executionId: string;
}

interface RetryPlan {
  readonly mode: RetryMode;
  /** When the limit resets that the turn met, epoch milliseconds; null for none. */
  readonly notBefore: number | null;
  readonly sequence: number;
  readonly deliveryId: string;
}

/** How a turn that has just ended is to be run again; undefined where its end stands, as it does for every turn of a client's. */
export function retryOfTurn(tx: Tx, turn: TurnToRetry): RetryMode | undefined {
  return retryPlan(tx, turn)?.mode;
}

/**
 * Puts a message's input back at the head of its lane, in the transaction that records how its turn failed. The message stays
 * CLAIMED, with the failure as its last error and the time before which it is not claimed again; the transcript keeps its text once.
 * @returns undefined where the end stands.
 */
export function retryDelivery(tx: Tx, turn: TurnToRetry): DeliveryEffects | undefined {
  const plan = retryPlan(tx, turn);
  if (plan === undefined) return undefined;
  putInputBack(tx, turn.inputId);
  tx.run(
    `UPDATE deliveries SET attempts = attempts + 1, last_error = ?, next_attempt_at = ?, retry_mode = ?, retried_execution_id = ?,
       execution_id = NULL, revision = revision + 1, updated_at = ? WHERE sequence = ?`,
    failureColumn(turn.failure),
    plan.notBefore,
    plan.mode,
    turn.executionId,
    turn.now,
    plan.sequence,
  );
  const effects = noEffects();
  effects.changed.push(plan.deliveryId);
  return effects;
}

function retryPlan(tx: Tx, turn: TurnToRetry): RetryPlan | undefined {
  if (turn.outcome !== "failed") return undefined;
  const carried = tx.get<{ sequence: number; deliveryId: string; retried: string | null }>(
    `SELECT deliveries.sequence AS sequence, deliveries.delivery_id AS deliveryId, retried_execution_id AS retried
     FROM inputs JOIN deliveries USING (delivery_id)
     WHERE inputs.input_id = ? AND deliveries.state = 'claimed' AND deliveries.execution_id = ?`,
    turn.inputId,
    turn.executionId,
  );
  if (carried === undefined) return undefined;
  const { sequence, deliveryId, retried } = carried;
  const mode = retryOf({ ...turn, retried: retried !== null });
  if (mode === undefined || turn.failure === undefined) return undefined;
  return { mode, notBefore: notBefore(turn.failure, turn.now) ?? null, sequence, deliveryId };
}
