import type { Tx } from "../sql.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { moveDelivery } from "./moveDelivery.js";
import { readDelivery } from "./readDelivery.js";
import { MESSAGE_EXPIRED } from "./storedReasons.js";

/** Who is about to run a delivery's input. */
export interface ClaimRequest {
  readonly deliveryId: string;
  readonly executionId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Collects what the change asks of memory after the commit. */
  readonly effects?: DeliveryEffects;
}

/**
 * Says that a turn is about to start, in the transaction that starts it.
 * - `claimed`: go on. Also for a later execution of the same input, which the owner starts only on proof that the earlier one
 *   started nothing.
 * - `expired`: its time has run out; it has ended and its sender is told. Skip the input.
 * - `gone`: it has ended otherwise. Skip the input.
 */
export function claimDelivery(tx: Tx, request: ClaimRequest): "claimed" | "expired" | "gone" {
  const { deliveryId, executionId, now, effects = noEffects() } = request;
  const delivery = readDelivery(tx, deliveryId);
  if (delivery === undefined) return "gone";
  if (delivery.state === "claimed") {
    if (delivery.executionId !== executionId) {
      tx.run(
        "UPDATE deliveries SET execution_id = ?, revision = revision + 1, updated_at = ? WHERE sequence = ?",
        executionId,
        now,
        delivery.sequence,
      );
      effects.changed.push(deliveryId);
    }
    return "claimed";
  }
  if (delivery.state !== "queued") return "gone";
  if (now > delivery.expiresAt) {
    moveDelivery(tx, delivery, "expire", { now, failure: MESSAGE_EXPIRED }, effects);
    return "expired";
  }
  moveDelivery(tx, delivery, "claim", { now, executionId }, effects);
  return "claimed";
}
