import type { Tx } from "../sql.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { moveDelivery } from "./moveDelivery.js";
import { readDelivery } from "./readDelivery.js";
import type { StoredRetry } from "./storedDelivery.js";
import { MESSAGE_EXPIRED } from "./storedReasons.js";
import { RETRY_WAIT_MAX_MS } from "./turnRetry.js";
import { waitLeft } from "./waitLeft.js";

/** Who is about to run a delivery's input. */
export interface ClaimRequest {
  readonly deliveryId: string;
  readonly executionId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Collects what the change asks of memory after the commit. */
  readonly effects?: DeliveryEffects;
}

/** What came of a claim: see {@link claimDelivery}. */
export type ClaimVerdict =
  /** With `retry` where the turn that starts is the retry of one that failed. */
  | { readonly kind: "claimed"; readonly retry?: StoredRetry }
  | { readonly kind: "expired" | "gone" }
  /** With when it may be claimed, epoch milliseconds. */
  | { readonly kind: "waits"; readonly until: number };

/**
 * Says that a turn is about to start, in the transaction that starts it.
 * - `claimed`: go on. Also for a later execution of the same input, which is started on proof that the earlier one
 *   started nothing, or as the retry of one that failed.
 * - `expired`: its time has run out; it has ended and its sender is told. Skip the input.
 * - `gone`: it has ended otherwise. Skip the input.
 * - `waits`: it is to be run again once a limit has reset. Leave the input where it is.
 */
export function claimDelivery(tx: Tx, request: ClaimRequest): ClaimVerdict {
  const { deliveryId, executionId, now, effects = noEffects() } = request;
  const delivery = readDelivery(tx, deliveryId);
  if (delivery === undefined) return { kind: "gone" };
  const { retry, lastError } = delivery;
  if (delivery.state === "claimed") {
    if (retry !== undefined && now > delivery.expiresAt) {
      moveDelivery(tx, delivery, "fail", { now, failure: lastError ?? MESSAGE_EXPIRED }, effects);
      return { kind: "gone" };
    }
    const left = retry === undefined ? 0 : waitLeft(delivery.nextAttemptAt, now, RETRY_WAIT_MAX_MS);
    if (left > 0) return { kind: "waits", until: now + left };
    if (delivery.executionId !== executionId) {
      tx.run(
        "UPDATE deliveries SET execution_id = ?, next_attempt_at = NULL, revision = revision + 1, updated_at = ? WHERE sequence = ?",
        executionId,
        now,
        delivery.sequence,
      );
      effects.changed.push(deliveryId);
    }
    return { kind: "claimed", ...(retry === undefined ? {} : { retry }) };
  }
  if (delivery.state !== "queued") return { kind: "gone" };
  if (now > delivery.expiresAt) {
    moveDelivery(tx, delivery, "expire", { now, failure: MESSAGE_EXPIRED }, effects);
    return { kind: "expired" };
  }
  moveDelivery(tx, delivery, "claim", { now, executionId }, effects);
  return { kind: "claimed" };
}
