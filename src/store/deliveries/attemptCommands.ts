import { defineCommand } from "../command.js";
import type { StoredFailure } from "../storedFailure.js";
import { failureColumn } from "../storedFailure.js";
import type { Tx } from "../sql.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { moveDelivery } from "./moveDelivery.js";
import { readDelivery } from "./readDelivery.js";
import { loseFar } from "./sweepDeliveries.js";
import type { StoredHop } from "./storedDelivery.js";
import { MESSAGE_EXPIRED, OUTCOME_UNKNOWN } from "./storedReasons.js";

/** A far gateway has a message on disk. */
export interface AcceptedAttempt {
  readonly deliveryId: string;
  /** Its acceptance. */
  readonly hop: StoredHop;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Records far acceptances, in their order: CLAIMED, with the hop. Nothing changes for a delivery that has left its lane. */
export const recordAcceptances = defineCommand({
  name: "delivery.accepted",
  run: (tx: Tx, attempts: readonly AcceptedAttempt[]): DeliveryEffects => {
    const effects = noEffects();
    for (const attempt of attempts) accept(tx, attempt, effects);
    return effects;
  },
});

// `claim` of the state table, as one statement that reads nothing back: a backlog makes this move with every message.
function accept(tx: Tx, { deliveryId, hop, now }: AcceptedAttempt, effects: DeliveryEffects): void {
  const { changes } = tx.run(
    `UPDATE deliveries SET state = 'claimed', claimed_at = ?, attempts = ?, hops = json_insert(hops, '$[#]', json(?)),
       next_attempt_at = NULL, undecided = 0, last_error = NULL, revision = revision + 1, updated_at = ?
     WHERE delivery_id = ? AND state = 'queued'`,
    now,
    hop.attempt,
    JSON.stringify(hop),
    now,
    deliveryId,
  );
  if (changes > 0) effects.changed.push(deliveryId);
}

/** An attempt that did not bring a message to its far gateway, as far as is known. Times are epoch milliseconds. */
export interface FailedAttempt {
  readonly deliveryId: string;
  readonly gateway: string;
  readonly error: StoredFailure;
  /** Whether the far side may have accepted it all the same. */
  readonly undecided: boolean;
  /** Whether the destination itself failed, as opposed to refusing this message for now. */
  readonly destinationFailed: boolean;
  readonly nextAttemptAt: number;
  readonly now: number;
}

/** Records a failed attempt with the time of the next, for the message and, where it is at fault, for its destination. */
export const recordFailedAttempt = defineCommand({
  name: "delivery.attempt_failed",
  run: (tx: Tx, attempt: FailedAttempt): DeliveryEffects => {
    const effects = noEffects();
    const { changes } = tx.run(
      `UPDATE deliveries SET attempts = attempts + 1, undecided = MAX(undecided, ?), next_attempt_at = ?, last_error = ?,
         revision = revision + 1, updated_at = ? WHERE delivery_id = ? AND state = 'queued'`,
      attempt.undecided ? 1 : 0,
      attempt.nextAttemptAt,
      failureColumn(attempt.error),
      attempt.now,
      attempt.deliveryId,
    );
    if (changes > 0) effects.changed.push(attempt.deliveryId);
    countFailure(tx);
    if (attempt.destinationFailed) failDestination(tx, attempt);
    return effects;
  },
});

function countFailure(tx: Tx): void {
  tx.run("UPDATE delivery_totals SET failed_attempts = failed_attempts + 1 WHERE one = 1");
}

/** A destination that could not be reached. Times are epoch milliseconds. */
export type FailedDestination = Pick<FailedAttempt, "gateway" | "error" | "nextAttemptAt" | "now">;

/** Opens a destination's breaker until the time of the next attempt. */
export function failDestination(tx: Tx, { gateway, error, nextAttemptAt, now }: FailedDestination): void {
  tx.run(
    `INSERT INTO destinations (gateway, failures, next_attempt_at, last_error, updated_at) VALUES (?, 1, ?, ?, ?)
     ON CONFLICT (gateway) DO UPDATE SET failures = failures + 1, next_attempt_at = excluded.next_attempt_at,
       last_error = excluded.last_error, updated_at = excluded.updated_at`,
    gateway,
    nextAttemptAt,
    failureColumn(error),
    now,
  );
}

/** Records that a destination as a whole could not be reached. */
export const recordDestinationFailure = defineCommand({
  name: "destination.failed",
  run: (tx: Tx, failed: FailedDestination): boolean => {
    countFailure(tx);
    failDestination(tx, failed);
    return true;
  },
});

/** Closes a destination's breaker: it has answered. */
export const recordReachable = defineCommand({
  name: "destination.reachable",
  run: (tx: Tx, { gateway, now }: { readonly gateway: string; readonly now: number }): boolean =>
    tx.run(
      `UPDATE destinations SET failures = 0, next_attempt_at = NULL, last_error = NULL, updated_at = ?
       WHERE gateway = ? AND failures > 0`,
      now,
      gateway,
    ).changes > 0,
});

/** How the sending side ends a message by itself. */
export interface FarEnd {
  readonly deliveryId: string;
  /**
   * `refused`: the far side will never take it, with its reason. `expired`: its time ran out and it was never accepted.
   * `lost`: it may have been accepted, and the far side can no longer be asked.
   */
  readonly end: "refused" | "expired" | "lost";
  /** The far side's reason, with `refused`. */
  readonly failure?: StoredFailure;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Ends a message to another gateway that no receipt will end. */
export const endFarDelivery = defineCommand({
  name: "delivery.end_far",
  run: (tx: Tx, { deliveryId, end, failure, now }: FarEnd): DeliveryEffects => {
    const effects = noEffects();
    const delivery = readDelivery(tx, deliveryId);
    if (delivery === undefined) return effects;
    if (end === "expired") moveDelivery(tx, delivery, "expire", { now, failure: MESSAGE_EXPIRED }, effects);
    else if (end === "refused") {
      moveDelivery(tx, delivery, "fail", { now, failure: failure ?? OUTCOME_UNKNOWN }, effects);
    } else loseFar(tx, delivery, now, effects);
    return effects;
  },
});

/**
 * Says of every waiting message to another gateway that an attempt may have been accepted: after a start nobody knows which
 * attempts were on their way when the process ended.
 */
export const doubtOutbound = defineCommand({
  name: "delivery.doubt_outbound",
  run: (tx: Tx, { gateway }: { readonly gateway: string }): number =>
    tx.run(
      `UPDATE deliveries SET undecided = 1
       WHERE recipient_gateway = ? AND route = 'peer_outbound' AND state = 'queued' AND undecided = 0`,
      gateway,
    ).changes,
});
