import type { Tx } from "../sql.js";
import type { DeliveryEffects } from "./deliveryEffects.js";
import { moveDelivery } from "./moveDelivery.js";
import { readDelivery } from "./readDelivery.js";

/** A message whose turn was claimed and, as is proved, not started. */
export interface UnstartedDelivery {
  readonly deliveryId: string;
  /** The execution that started nothing; another one than the delivery's own changes nothing. */
  readonly executionId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Lets a message wait for its turn again, in the transaction that puts its input back: CLAIMED is QUEUED again. One whose turn had failed
 * and was about to be retried stays CLAIMED, because the turn before did start.
 */
export function requeueDelivery(tx: Tx, request: UnstartedDelivery, effects: DeliveryEffects): void {
  const { deliveryId, executionId, now } = request;
  const delivery = readDelivery(tx, deliveryId);
  if (delivery?.state !== "claimed" || delivery.executionId !== executionId) return;
  if (delivery.retry === undefined) moveDelivery(tx, delivery, "requeue", { now }, effects);
  else {
    tx.run("UPDATE deliveries SET revision = revision + 1, updated_at = ? WHERE sequence = ?", now, delivery.sequence);
    effects.changed.push(deliveryId);
  }
  tx.run("UPDATE deliveries SET execution_id = NULL WHERE sequence = ?", delivery.sequence);
}
