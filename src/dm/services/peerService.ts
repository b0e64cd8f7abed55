import { LIMITS } from "../../base/limits.js";
import { PeerServiceService } from "../../gen/talaria/dm/v1/peer_service.js";
import { implementService, type ServiceImplementation } from "../../rpc/harness/implementService.js";
import { defineBidi, defineServerStream, defineUnary } from "../../rpc/harness/methods.js";
import { formatTraceparent } from "../../rpc/traceContext.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import type { PeerPrincipal, Principal } from "../../rpc/principal.js";
import { reasonError } from "../../rpc/rpcError.js";
import { checkCount } from "../../rpc/wire/checkCount.js";
import { cancelDelivery } from "../../store/deliveries/cancelDelivery.js";
import { lanePosition, readDeliveryByKey, readPrincipalScope } from "../../store/deliveries/readDelivery.js";
import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";
import type { Store } from "../../store/store.js";
import { rosterFingerprint, rosterOf } from "../addresses/roster.js";
import type { Door } from "../admission/door.js";
import { checkKey } from "../admission/checkShape.js";
import { drainingRefusal } from "../admission/drainingRefusal.js";
import type { AfterCommit } from "../afterCommit.js";
import type { DeliveryHub } from "../deliveryHub.js";
import { checkCaller, gatewayInfo } from "../gatewayInfo.js";
import { acceptPair, type AcceptPairOptions } from "../pairing/acceptPair.js";
import { createPairAttempts } from "../pairing/pairAttempts.js";
import { grantedAgents } from "../peers/grantedAgents.js";
import type { AgentDirectory } from "../ports/directory.js";
import { toReceipt } from "../wire/receiptWire.js";
import { deliverBatch, toAcceptance } from "./deliverBatch.js";
import { messageOfEnvelope } from "./envelopeOrigin.js";
import { createReceiptChanges } from "./receiptChanges.js";
import { watchReceipts } from "./watchReceipts.js";

/** What the peer-facing service needs. */
export interface PeerServiceOptions extends AcceptPairOptions {
  readonly door: Door;
  readonly store: Pick<Store, "writer" | "reader">;
  readonly hub: DeliveryHub;
  readonly tracer: Tracer;
  readonly agents: AgentDirectory;
  readonly afterCommit: AfterCommit;
}

/** Serves paired gateways. Every answer of acceptance is given after the commit. */
export function createPeerService(options: PeerServiceOptions): ServiceImplementation {
  const { door, store, hub, clock, identity, budgets } = options;
  const info = () => gatewayInfo(identity, budgets, clock.now());
  const attempts = createPairAttempts(clock);
  const receipts = createReceiptChanges(hub, (id) => readPrincipalScope(store.reader, id));
  return implementService(PeerServiceService, {
    deliverDm: defineUnary({
      async handle(request, { principal, joinTrace }) {
        const { name } = peerOf(principal);
        const message = messageOfEnvelope(request, { name, kind: "peer" }, clock);
        const traceparent = formatTraceparent(joinTrace(message.traceparent));
        return toAcceptance(await door.admit({ ...message, traceparent }));
      },
    }),
    deliverDMs: defineBidi({
      async handle(stream, { principal, draining }) {
        const { name } = peerOf(principal);
        for await (const { items } of stream.requests) {
          checkCount("items", items.length, LIMITS.batchItems);
          await stream.send({ results: await deliverBatch(options, { name, kind: "peer" }, items) });
          if (draining.aborted) throw drainingRefusal();
        }
      },
    }),
    getReceipt: defineUnary({
      async handle({ key }, { principal }) {
        return { receipt: receiptOf(options, find(options, peerOf(principal), key)) };
      },
    }),
    watchReceipts: defineServerStream({
      handle({ caller, cursor }, { principal, signal, draining }) {
        const scope = scopeOf(peerOf(principal));
        checkCaller(caller);
        const after = cursor?.sequence ?? 0n;
        return watchReceipts({ reader: store.reader, receipts, scope, info: info(), after, signal, draining });
      },
    }),
    cancelDm: defineUnary({
      async handle({ requestId }, { principal }) {
        checkKey(requestId);
        const { deliveryId } = find(options, peerOf(principal), requestId);
        const result = await store.writer.execute(cancelDelivery, { deliveryId, inFlight: false, now: clock.now() });
        switch (result.kind) {
          case "missing":
            throw reasonError("UNKNOWN_DELIVERY");
          case "cancelled":
            options.afterCommit(result.effects);
            return { receipt: receiptOf(options, result.delivery) };
          case "ended":
            if (result.delivery.state === "cancelled") return { receipt: receiptOf(options, result.delivery) };
            throw reasonError("DELIVERY_ENDED");
          case "started":
          case "far":
            throw reasonError("DELIVERY_NOT_CANCELLABLE");
        }
      },
    }),
    listRoster: defineUnary({
      async handle({ caller, fingerprint: known }, { principal }) {
        const peer = options.peers.get(peerOf(principal).name);
        checkCaller(caller);
        const entries = rosterOf(grantedAgents(peer, options.agents.list()));
        const fingerprint = rosterFingerprint(entries);
        return { info: info(), entries: fingerprint === known ? [] : [...entries], fingerprint };
      },
    }),
    pair: defineUnary({
      handle: (request, context) => acceptPair({ ...options, attempts }, request, context),
    }),
  });
}

function receiptOf({ store }: PeerServiceOptions, delivery: StoredDelivery) {
  return toReceipt(delivery, lanePosition(store.reader, delivery));
}

function find({ store }: PeerServiceOptions, peer: PeerPrincipal, key: string): StoredDelivery {
  const delivery = readDeliveryByKey(store.reader, scopeOf(peer), key);
  if (delivery === undefined) throw reasonError("UNKNOWN_DELIVERY");
  return delivery;
}

function scopeOf(peer: PeerPrincipal): string {
  return `peer:${peer.name}`;
}

function peerOf(principal: Principal): PeerPrincipal {
  if (principal.kind !== "peer") throw reasonError("PEER_KEY_UNKNOWN");
  return principal;
}
