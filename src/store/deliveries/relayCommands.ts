import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { failureColumn, type StoredFailure } from "../storedFailure.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { moveDelivery, mustRead } from "./moveDelivery.js";
import { readDelivery } from "./readDelivery.js";
import { judgeLapse } from "./relayLapse.js";
import type { DeliveryRow, StoredDelivery } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";
import { CANCELLED_BY_SENDER, LEASE_LAPSED, MESSAGE_EXPIRED } from "./storedReasons.js";
import { loseFar } from "./sweepDeliveries.js";

/** Rows that one command gives up at most, so that it does not hold the writer. */
const ROWS = 256;

/** Messages to hand to a connector. */
export interface RelayLeaseRequest {
  readonly connector: string;
  readonly deliveryIds: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Marks messages as handed out, before anything is sent: from here on the connector may hold them. Those that no longer wait, are
 * handed out already or have run out of time are left.
 * @returns the messages that may be sent
 */
export const leaseToConnector = defineCommand({
  name: "relay.lease",
  run: (tx: Tx, { connector, deliveryIds, now }: RelayLeaseRequest): readonly StoredDelivery[] =>
    deliveryIds.flatMap((deliveryId) => {
      const { changes } = tx.run(
        `UPDATE deliveries SET undecided = 1, attempts = attempts + 1, next_attempt_at = NULL, revision = revision + 1,
           updated_at = ?
         WHERE delivery_id = ? AND recipient_gateway = ? AND route = 'relay_outbound' AND state = 'queued'
           AND undecided = 0 AND expires_at >= ?`,
        now,
        deliveryId,
        connector,
        now,
      );
      return changes === 0 ? [] : [mustRead(tx, deliveryId)];
    }),
});

/** One message of a connector. */
export interface RelayMessage {
  readonly connector: string;
  readonly deliveryId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The connector says that it never accepted a message whose lease has ended: it waits again, once, else it ends. */
export const releaseLapsed = defineCommand({
  name: "relay.release_lapsed",
  run: (tx: Tx, { connector, deliveryId, now }: RelayMessage): DeliveryEffects => {
    const effects = noEffects();
    const delivery = handedOut(tx, connector, deliveryId);
    if (delivery === undefined) return effects;
    const { expiresAt, lastError } = delivery;
    switch (judgeLapse({ now, expiresAt, lapsedBefore: lastError?.reason === LEASE_LAPSED.reason })) {
      case "expire":
        moveDelivery(tx, delivery, "expire", { now, failure: MESSAGE_EXPIRED }, effects);
        break;
      case "fail":
        moveDelivery(tx, delivery, "fail", { now, failure: LEASE_LAPSED }, effects);
        break;
      case "again":
        takeBack(tx, delivery, { error: LEASE_LAPSED, nextAttemptAt: null, now }, effects);
    }
    return effects;
  },
});

/** The connector cannot take a message now, and does not hold it. */
export interface RelayReturn extends RelayMessage {
  readonly error: StoredFailure;
  /** Epoch milliseconds. */
  readonly nextAttemptAt: number;
}

/** Puts a message back that the connector returned: it waits for its next attempt. */
export const returnToLane = defineCommand({
  name: "relay.return",
  run: (tx: Tx, { connector, deliveryId, error, nextAttemptAt, now }: RelayReturn): DeliveryEffects => {
    const effects = noEffects();
    const delivery = handedOut(tx, connector, deliveryId);
    if (delivery !== undefined) takeBack(tx, delivery, { error, nextAttemptAt, now }, effects);
    return effects;
  },
});

/** Withdraws a message that was handed out, after the connector has said that it neither holds it nor will. */
export const withdrawFromConnector = defineCommand({
  name: "relay.withdraw",
  run: (tx: Tx, { connector, deliveryId, now }: RelayMessage): DeliveryEffects => {
    const effects = noEffects();
    const delivery = handedOut(tx, connector, deliveryId);
    if (delivery !== undefined) moveDelivery(tx, delivery, "cancel", { now, failure: CANCELLED_BY_SENDER }, effects);
    return effects;
  },
});

/** Which messages of a connector to give up. Times are epoch milliseconds. */
export interface RelayGiveUp {
  readonly connector: string;
  /** Messages that the connector holds or may hold and that expired before this are lost. */
  readonly expiredBefore: number;
  /** Whether those are lost too that it has accepted. */
  readonly accepted: boolean;
  /** Messages to leave alone. */
  readonly except: readonly string[];
  readonly now: number;
}

/** Gives up messages that a connector may have and of which it says nothing: UNKNOWN, until evidence arrives. */
export const giveUpAtConnector = defineCommand({
  name: "relay.give_up",
  run: (tx: Tx, { connector, expiredBefore, accepted, except, now }: RelayGiveUp): DeliveryEffects => {
    const effects = noEffects();
    const spared = new Set(except);
    const overdue = tx.all<DeliveryRow>(
      `SELECT * FROM deliveries
       WHERE recipient_gateway = ? AND route = 'relay_outbound' AND expires_at < ?
         AND ((state = 'queued' AND undecided = 1) OR (state = 'claimed' AND ? = 1))
       ORDER BY expires_at LIMIT ?`,
      connector,
      expiredBefore,
      accepted ? 1 : 0,
      ROWS,
    );
    for (const row of overdue) if (!spared.has(row.delivery_id)) loseFar(tx, deliveryFromRow(row), now, effects);
    return effects;
  },
});

function handedOut(tx: Tx, connector: string, deliveryId: string): StoredDelivery | undefined {
  const delivery = readDelivery(tx, deliveryId);
  return delivery?.recipientGateway === connector && delivery.state === "queued" && delivery.undecided
    ? delivery
    : undefined;
}

function takeBack(
  tx: Tx,
  delivery: StoredDelivery,
  { error, nextAttemptAt, now }: { error: StoredFailure; nextAttemptAt: number | null; now: number },
  effects: DeliveryEffects,
): void {
  tx.run(
    `UPDATE deliveries SET undecided = 0, next_attempt_at = ?, last_error = ?, revision = revision + 1, updated_at = ?
     WHERE sequence = ?`,
    nextAttemptAt,
    failureColumn(error),
    now,
    delivery.sequence,
  );
  effects.changed.push(delivery.deliveryId);
}
