import { failureColumn, type StoredFailure } from "../storedFailure.js";
import type { Tx } from "../sql.js";
import type { DeliveryEffects } from "./deliveryEffects.js";
import { nextDeliveryState, type DeliveryEvent } from "./deliveryMachine.js";
import { isDead, isEnded } from "./deliveryState.js";
import { nextCounter } from "./nextCounter.js";
import { readDelivery } from "./readDelivery.js";
import type { StoredDelivery, StoredHop, StoredReply } from "./storedDelivery.js";
import { tellSender } from "./tellSender.js";

/** What an event brings besides the change of state. */
export interface MoveDetails {
  /** Epoch milliseconds. */
  readonly now: number;
  /** The answer, with `reply`. */
  readonly reply?: StoredReply;
  /** Why, with `fail`, `expire`, `cancel` and `lose`. */
  readonly failure?: StoredFailure;
  /** The execution that answers, with `claim` here. */
  readonly executionId?: string;
  /** The far side's acceptance, with `claim` there. */
  readonly hop?: StoredHop;
}

/**
 * Applies an event to a delivery by the state table. An end, the removal of the body and the telling of the sender happen
 * here, together. The body of a dead letter that was sent from here stays, for a redrive.
 * @returns the delivery after it, or undefined where the event does not apply; then nothing has changed.
 */
export function moveDelivery(
  tx: Tx,
  delivery: StoredDelivery,
  event: DeliveryEvent,
  details: MoveDetails,
  effects: DeliveryEffects,
): StoredDelivery | undefined {
  const state = nextDeliveryState(delivery.state, event);
  if (state === undefined) return undefined;
  const { now, reply, failure, executionId, hop } = details;
  const ended = isEnded(state);
  const inbound = delivery.route === "peer_inbound" || delivery.route === "relay_inbound";
  const dropBody = ended && !(isDead(state) && !inbound);
  tx.run(
    `UPDATE deliveries SET state = ?, updated_at = ?, revision = revision + 1,
       claimed_at = CASE WHEN ? = 'claimed' THEN ? WHEN ? = 'queued' THEN NULL ELSE claimed_at END,
       ended_at = ?, execution_id = COALESCE(?, execution_id), hops = ?,
       next_attempt_at = NULL, undecided = CASE WHEN ? = 'claimed' THEN 0 ELSE undecided END,
       last_error = CASE WHEN ? = 'claimed' THEN NULL ELSE last_error END,
       failure = ?, reply_text = ?, reply_truncated = ?, reply_sha256 = ?, reply_code_points = ?
     WHERE sequence = ?`,
    state,
    now,
    state,
    now,
    state,
    ended ? now : null,
    executionId ?? null,
    JSON.stringify(hop === undefined ? delivery.hops : [...delivery.hops, hop]),
    state,
    state,
    failureColumn(failure),
    reply?.text ?? null,
    reply?.truncated === true ? 1 : 0,
    reply?.sha256 ?? null,
    reply?.codePoints ?? 0,
    delivery.sequence,
  );
  if (dropBody) removeBody(tx, delivery.sequence);
  if (inbound) markReceipt(tx, delivery.sequence);
  effects.changed.push(delivery.deliveryId);
  if (isDead(state) && !inbound) effects.dead.push(delivery.deliveryId);
  const moved = mustRead(tx, delivery.deliveryId);
  return ended ? tellSender(tx, moved, now, effects) : moved;
}

/** Makes the receipt of an inbound delivery due. */
export function markReceipt(tx: Tx, sequence: number): void {
  tx.run("UPDATE deliveries SET receipt_sequence = ? WHERE sequence = ?", nextCounter(tx, "receipt"), sequence);
}

/** Removes a body and its share of the quota. */
export function removeBody(tx: Tx, sequence: number): void {
  tx.run("UPDATE deliveries SET body = NULL, body_bytes = 0 WHERE sequence = ?", sequence);
}

/** The delivery with an id that is known to exist. @throws Error where it does not. */
export function mustRead(tx: Tx, deliveryId: string): StoredDelivery {
  const delivery = readDelivery(tx, deliveryId);
  if (delivery === undefined) throw new Error(`delivery ${deliveryId} is missing`);
  return delivery;
}
