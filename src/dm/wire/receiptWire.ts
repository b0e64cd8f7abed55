import { createHash } from "node:crypto";

import { cutToCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";
import type { Hop, Reply } from "../../gen/talaria/dm/v1/delivery.js";
import type { Receipt } from "../../gen/talaria/dm/v1/peer_service.js";
import type { StoredReceipt } from "../../store/deliveries/applyReceipts.js";
import type { StoredDelivery, StoredHop, StoredReply } from "../../store/deliveries/storedDelivery.js";
import { toReply } from "./deliveryWire.js";
import { toFailure } from "../../rpc/wire/failure.js";
import { fromFailure } from "./fromFailure.js";
import { storedState, WIRE_STATE } from "./stateWire.js";
import { fromTimestamp, toTimestamp } from "../../rpc/wire/times.js";

/** The receipt of an inbound delivery. @param position place in its lane, 0 when it does not wait */
export function toReceipt(delivery: StoredDelivery, position: number): Receipt {
  const { reply, failure, updatedAt } = delivery;
  return {
    key: delivery.key,
    attemptEpoch: delivery.attemptEpoch,
    state: WIRE_STATE[delivery.state],
    reply: reply === undefined ? undefined : toReply(reply, delivery.endedAt ?? updatedAt),
    failure: failure === undefined ? undefined : toFailure(failure),
    position,
    updatedAt: toTimestamp(updatedAt),
    deliveryId: delivery.deliveryId,
  };
}

/**
 * A receipt that another gateway sent, bounded; undefined where its state is not known here, so that it is asked for again
 * rather than misread.
 */
export function fromReceipt(receipt: Receipt, gateway: string, now: number): StoredReceipt | undefined {
  const state = storedState(receipt.state);
  if (state === undefined) return undefined;
  return {
    deliveryId: receipt.key,
    attemptEpoch: receipt.attemptEpoch,
    state,
    ...(receipt.reply === undefined ? {} : { reply: fromReply(receipt.reply) }),
    ...(receipt.failure === undefined ? {} : { failure: fromFailure(receipt.failure) }),
    hop: {
      gateway,
      acceptedAt: fromTimestamp(receipt.updatedAt) ?? now,
      attempt: 1,
      deliveryId: idOf(receipt.deliveryId),
    },
  };
}

/** A hop that another gateway sent, bounded. */
export function fromHop(hop: Hop, now: number): StoredHop {
  return {
    gateway: cutToCodePoints(hop.gateway, 64),
    acceptedAt: fromTimestamp(hop.acceptedAt) ?? now,
    attempt: hop.attempt,
    deliveryId: idOf(hop.deliveryId),
  };
}

/** A reply whose text is not what its digest says was cut or damaged on its way: it is kept, and marked as not whole. */
function fromReply(reply: Reply): StoredReply {
  const text = cutToCodePoints(reply.text, LIMITS.replyCodePoints);
  const digest = createHash("sha256").update(reply.text, "utf8").digest();
  const whole = reply.sha256.length === 32 ? reply.sha256 : digest;
  return {
    text,
    truncated: reply.truncated || text.length < reply.text.length || !digest.equals(whole),
    sha256: whole,
    codePoints: Math.min(Number(reply.codePoints), Number.MAX_SAFE_INTEGER),
  };
}

function idOf(text: string): string {
  return cutToCodePoints(text, 64);
}
