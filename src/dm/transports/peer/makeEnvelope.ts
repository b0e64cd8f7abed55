import type { DeliverDMRequest } from "../../../gen/talaria/dm/v1/peer_service.js";
import { readDelivery } from "../../../store/deliveries/readDelivery.js";
import { formatTraceparent, type TraceContext } from "../../../rpc/traceContext.js";
import type { WaitingMessage } from "../../../store/deliveries/outboundDeliveries.js";
import type { Queryable } from "../../../store/sql.js";
import { bodySha256 } from "../../admission/messageDigest.js";
import { toHop } from "../../wire/deliveryWire.js";
import { toTimestamp } from "../../../rpc/wire/times.js";

const LOCAL_AGENT = /^agent:([a-z0-9][a-z0-9_-]{0,63})$/;

/**
 * A delivery as it goes to its peer at a time, or undefined once its body is gone. Its key there is its id here: keys of several senders
 * of this gateway may be equal, ids never are.
 * @param trace position that the peer's side of it is below
 */
export function makeEnvelope(
  from: Queryable,
  delivery: WaitingMessage,
  now: number,
  trace: TraceContext | undefined,
): DeliverDMRequest | undefined {
  const { body, sender, inReplyTo } = delivery;
  if (body === undefined) return undefined;
  const [, agent = ""] = LOCAL_AGENT.exec(sender.id) ?? [];
  return {
    requestId: delivery.deliveryId,
    envelope: {
      senderAgent: agent,
      senderTitle: sender.displayName,
      recipientAgent: delivery.recipientAgent,
      body,
      bodySha256: bodySha256(body),
      inReplyTo: inReplyTo === "" ? "" : keyAtPeer(from, inReplyTo, delivery.recipientGateway),
      depth: delivery.depth,
      expiresAt: toTimestamp(delivery.expiresAt),
      attemptEpoch: delivery.attemptEpoch,
      attempt: delivery.attempts + 1,
      trace: {
        traceparent: trace === undefined ? delivery.traceparent : formatTraceparent(trace),
        tracestate: delivery.tracestate,
      },
      hops: delivery.hops.slice(0, 1).map(toHop),
      sentAt: toTimestamp(now),
    },
  };
}

/** The name by which the peer knows a delivery: the key that it gave itself, or our id of one that we sent there. */
function keyAtPeer(from: Queryable, deliveryId: string, gateway: string): string {
  const answered = readDelivery(from, deliveryId);
  if (answered?.principalScope === `peer:${gateway}`) return answered.key;
  return answered?.recipientGateway === gateway ? deliveryId : "";
}
