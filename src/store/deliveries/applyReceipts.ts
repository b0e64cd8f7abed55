import { defineCommand } from "../command.js";
import type { StoredFailure } from "../storedFailure.js";
import type { Tx } from "../sql.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import type { DeliveryEvent } from "./deliveryMachine.js";
import type { DeliveryState } from "./deliveryState.js";
import { moveDelivery } from "./moveDelivery.js";
import { readDelivery } from "./readDelivery.js";
import type { StoredDelivery, StoredHop, StoredReply } from "./storedDelivery.js";
import { CANCELLED_BY_SENDER, MESSAGE_EXPIRED, OUTCOME_UNKNOWN, TURN_FAILED } from "./storedReasons.js";

/** What a far gateway says became of a message. */
export interface StoredReceipt {
  /** The message's key there: the delivery's id here. */
  readonly deliveryId: string;
  readonly attemptEpoch: number;
  readonly state: DeliveryState;
  /** With `replied`. */
  readonly reply?: StoredReply;
  /** With `failed`, `expired`, `cancelled` and `unknown`. */
  readonly failure?: StoredFailure;
  /** Its acceptance, recorded where none of this attempt epoch is known yet. */
  readonly hop: StoredHop;
}

/** Receipts of one destination. */
export interface ReceiptsRequest {
  readonly gateway: string;
  readonly receipts: readonly StoredReceipt[];
  /** Place of the last of them in the destination's order; absent where they were asked for by key. */
  readonly cursor?: number;
  /** Names the destination's database; a cursor counts in this one only. */
  readonly storeId?: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Stores receipts and the place to go on from, in one transaction. A receipt that was stored before, belongs to an earlier
 * attempt epoch, or is of a message that was not sent to that destination changes nothing.
 */
export const applyReceipts = defineCommand({ name: "delivery.apply_receipts", run: apply });

function apply(tx: Tx, { gateway, receipts, cursor, storeId, now }: ReceiptsRequest): DeliveryEffects {
  const effects = noEffects();
  for (const receipt of receipts) {
    const delivery = readDelivery(tx, receipt.deliveryId);
    if (delivery?.recipientGateway !== gateway || delivery.attemptEpoch !== receipt.attemptEpoch) continue;
    applyOne(tx, delivery, receipt, now, effects);
  }
  if (cursor !== undefined) {
    tx.run(
      `INSERT INTO destinations (gateway, receipt_cursor, store_id, updated_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (gateway) DO UPDATE SET receipt_cursor = excluded.receipt_cursor,
         store_id = excluded.store_id, updated_at = excluded.updated_at`,
      gateway,
      cursor,
      storeId ?? "",
      now,
    );
  }
  return effects;
}

function applyOne(tx: Tx, before: StoredDelivery, receipt: StoredReceipt, now: number, effects: DeliveryEffects): void {
  const { hop, reply } = receipt;
  const delivery = before.state === "queued" ? moveDelivery(tx, before, "claim", { now, hop }, effects) : before;
  const end = endOf(receipt);
  if (delivery === undefined || end === undefined) return;
  const { event, failure } = end;
  moveDelivery(
    tx,
    delivery,
    event,
    { now, ...(failure === undefined ? {} : { failure }), ...(event === "reply" && reply ? { reply } : {}) },
    effects,
  );
}

function endOf(receipt: StoredReceipt): { event: DeliveryEvent; failure?: StoredFailure } | undefined {
  switch (receipt.state) {
    case "queued":
    case "claimed":
      return undefined;
    case "replied":
      return receipt.reply === undefined ? { event: "silence" } : { event: "reply" };
    case "silent":
      return { event: "silence" };
    case "failed":
      return { event: "fail", failure: receipt.failure ?? TURN_FAILED };
    case "expired":
      // Accepted there, so EXPIRED is not ours to say: the far side never started it.
      return { event: "fail", failure: receipt.failure ?? MESSAGE_EXPIRED };
    case "cancelled":
      return { event: "cancel", failure: receipt.failure ?? CANCELLED_BY_SENDER };
    case "unknown":
      return { event: "lose", failure: receipt.failure ?? OUTCOME_UNKNOWN };
  }
}
