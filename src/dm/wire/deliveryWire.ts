import type { Delivery, Hop, Reply } from "../../gen/talaria/dm/v1/delivery.js";
import type { StoredDelivery, StoredHop, StoredReply } from "../../store/deliveries/storedDelivery.js";
import { toAuthor } from "../../rpc/wire/author.js";
import { toFailure } from "../../rpc/wire/failure.js";
import { WIRE_ROUTE, WIRE_STATE } from "./stateWire.js";
import { toOptionalTimestamp, toTimestamp } from "../../rpc/wire/times.js";

/** A delivery as the contract writes it. @param position place in its lane, 0 when it does not wait */
export function toDelivery(delivery: StoredDelivery, position: number): Delivery {
  const { sender, reply, failure, lastError } = delivery;
  return {
    deliveryId: delivery.deliveryId,
    key: delivery.key,
    state: WIRE_STATE[delivery.state],
    route: WIRE_ROUTE[delivery.route],
    sender: toAuthor(sender),
    senderSessionId: delivery.senderSessionId ?? "",
    target: delivery.target,
    recipient: { gateway: delivery.recipientGateway, agent: delivery.recipientAgent },
    body: delivery.body ?? "",
    bodyRemoved: delivery.body === undefined,
    digest: Buffer.from(delivery.digest),
    bodyCodePoints: delivery.bodyCodePoints,
    inReplyTo: delivery.inReplyTo,
    depth: delivery.depth,
    attemptEpoch: delivery.attemptEpoch,
    attempts: delivery.attempts,
    nextAttemptAt: toOptionalTimestamp(delivery.nextAttemptAt),
    lastError: lastError === undefined ? undefined : toFailure(lastError),
    position,
    createdAt: toTimestamp(delivery.createdAt),
    expiresAt: toTimestamp(delivery.expiresAt),
    claimedAt: toOptionalTimestamp(delivery.claimedAt),
    endedAt: toOptionalTimestamp(delivery.endedAt),
    reply: reply === undefined ? undefined : toReply(reply, delivery.endedAt ?? delivery.updatedAt),
    failure: failure === undefined ? undefined : toFailure(failure),
    hops: delivery.hops.map(toHop),
    toldAt: toOptionalTimestamp(delivery.toldAt),
    trace: { traceparent: delivery.traceparent, tracestate: delivery.tracestate },
    inputId: delivery.inputId ?? "",
    executionId: delivery.executionId ?? "",
  };
}

/** A reply as the contract writes it. */
export function toReply(reply: StoredReply, repliedAt: number): Reply {
  return {
    text: reply.text,
    truncated: reply.truncated,
    sha256: Buffer.from(reply.sha256),
    codePoints: BigInt(reply.codePoints),
    repliedAt: toTimestamp(repliedAt),
  };
}

/** A hop as the contract writes it. */
export function toHop(hop: StoredHop): Hop {
  return {
    gateway: hop.gateway,
    acceptedAt: toTimestamp(hop.acceptedAt),
    attempt: hop.attempt,
    deliveryId: hop.deliveryId,
  };
}
