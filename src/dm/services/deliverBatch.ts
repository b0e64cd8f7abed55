import type { Clock } from "../../base/clock.js";
import {
  PeerServiceService,
  type DeliverDMRequest,
  type DeliverDMResponse,
  type DeliverDMResult,
} from "../../gen/talaria/dm/v1/peer_service.js";
import { RelayServiceService } from "../../gen/talaria/dm/v1/relay_service.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import { formatTraceparent, parseTraceparent } from "../../rpc/traceContext.js";
import { failureOf, toFailure } from "../../rpc/wire/failure.js";
import { isEnded } from "../../store/deliveries/deliveryState.js";
import type { Admitted } from "../admission/admitted.js";
import type { BatchResult, Door } from "../admission/door.js";
import type { IncomingMessage } from "../admission/origin.js";
import { beginHop, type Hop } from "../trace/hopSpan.js";
import { toHop } from "../wire/deliveryWire.js";
import { toReceipt } from "../wire/receiptWire.js";
import { messageOfEnvelope, type Bringer } from "./envelopeOrigin.js";

/** Brings the messages of another gateway to the door, in their order. @returns one result for each, after the commit. */
export async function deliverBatch(
  { door, clock, tracer }: { readonly door: Door; readonly clock: Clock; readonly tracer: Tracer },
  bringer: Bringer,
  items: readonly DeliverDMRequest[],
): Promise<DeliverDMResult[]> {
  const read = items.map((item): IncomingMessage | RpcError => {
    try {
      return messageOfEnvelope(item, bringer, clock);
    } catch (caught) {
      return RpcError.from(caught);
    }
  });
  const held = new Set<string>();
  const messages: IncomingMessage[] = [];
  const hops: Hop[] = [];
  const results: (BatchResult | undefined)[] = read.map((message, index) => {
    const recipient = items[index]?.envelope?.recipientAgent.toLowerCase() ?? "";
    if (message instanceof RpcError) {
      held.add(recipient);
      return { refused: message };
    }
    if (held.has(recipient)) return { refused: reasonError("BATCH_ITEM_HELD_BACK") };
    if (!tracer.enabled) {
      messages.push(message);
      return undefined;
    }
    const parent = parseTraceparent(message.traceparent);
    const { path: method } = bringer.kind === "peer" ? PeerServiceService.deliverDMs : RelayServiceService.connect;
    const hop = beginHop({ tracer, clock }, { kind: "server", method, peer: bringer.name, parent });
    hops.push(hop);
    messages.push({ ...message, traceparent: formatTraceparent(hop.at) });
    return undefined;
  });
  const admitted = [...(await door.admitBatch(messages))];
  for (const [place, hop] of hops.entries()) {
    const result = admitted[place];
    hop.end(result !== undefined && "refused" in result ? result.refused : undefined);
  }
  return items.map(({ requestId }, index) => {
    const result = results[index] ?? admitted.shift();
    if (result === undefined) throw new Error("the door has answered too few messages");
    return "refused" in result
      ? { requestId, result: { $case: "refused", value: toFailure(failureOf(result.refused)) } }
      : { requestId, result: { $case: "accepted", value: toAcceptance(result) } };
  });
}

/** What a sending gateway is told of a message that is on disk. */
export function toAcceptance({ delivery, position, replayed }: Admitted): DeliverDMResponse {
  const hop = delivery.hops.at(-1);
  return {
    hop: hop === undefined ? undefined : toHop(hop),
    replayed,
    position,
    receipt: isEnded(delivery.state) ? toReceipt(delivery, position) : undefined,
  };
}
