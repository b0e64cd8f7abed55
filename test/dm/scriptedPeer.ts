import { systemClock } from "../../src/base/clock.js";
import { DEFAULT_BUDGETS } from "../../src/base/budgets.js";
import { silentLogger } from "../../src/base/logger.js";
import { gatewayInfo } from "../../src/dm/gatewayInfo.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { PeerServiceService, type DeliverDMResult, type Receipt } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { implementService } from "../../src/rpc/harness/implementService.js";
import { defineBidi, defineServerStream, defineUnary, defineUnimplemented } from "../../src/rpc/harness/methods.js";
import { startListener } from "../../src/rpc/listener.js";
import { reasonError, type RpcError } from "../../src/rpc/rpcError.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { serverTlsOptions } from "../../src/rpc/tls/serverTls.js";
import { toFailure, failureOf } from "../../src/rpc/wire/failure.js";

/** What a scripted peer does with one message. */
export type Verdict = "accept" | RpcError;

/** How a scripted peer behaves. */
export interface PeerScript {
  /** Judges each message in the order of its coming. */
  readonly judge?: (body: string) => Verdict;
  /** Breaks the call after a batch was stored and before it is answered. @param batch its number, from 1 */
  readonly breaksAfter?: (batch: number) => boolean;
}

/** A peer that keeps nothing on disk and runs no turns: what it was asked is what tests look at. */
export interface ScriptedPeer {
  readonly address: string;
  readonly pin: string;
  /** Bodies of each batch. */
  readonly batches: string[][];
  /** Bodies of single calls. */
  readonly singles: string[];
  /** Most single calls that were open at once. */
  readonly mostAtOnce: () => number;
  /** Bodies that were accepted, in order, each once. */
  readonly kept: string[];
  /** Keys that were asked about. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Serves a scripted peer to anybody. */
export async function scriptedPeer({
  judge = () => "accept",
  breaksAfter = () => false,
}: PeerScript = {}): Promise<ScriptedPeer> {
  const identity = await ephemeralIdentity(systemClock.now());
  const leaves = await leafSource(identity, () => systemClock.now());
  const info = gatewayInfo({ name: "scripted", version: "1", storeId: "one" }, DEFAULT_BUDGETS);
  const byKey = new Map<string, string>();
  const log = { batches: [] as string[][], singles: [] as string[], kept: [] as string[], asked: [] as string[] };
  let open = 0;
  let most = 0;
  const store = (key: string, body: string): Verdict => {
    if (byKey.has(key)) return "accept";
    const verdict = judge(body);
    if (verdict !== "accept") return verdict;
    byKey.set(key, body);
    log.kept.push(body);
    return "accept";
  };
  const acceptance = { hop: undefined, replayed: false, position: 1, receipt: undefined };
  const service = implementService(PeerServiceService, {
    deliverDm: defineUnary({
      async handle({ requestId, envelope }) {
        open += 1;
        most = Math.max(most, open);
        await new Promise((resolve) => setImmediate(resolve));
        open -= 1;
        log.singles.push(envelope?.body ?? "");
        const verdict = store(requestId, envelope?.body ?? "");
        if (verdict !== "accept") throw verdict;
        return acceptance;
      },
    }),
    deliverDMs: defineBidi({
      async handle(stream) {
        for await (const { items } of stream.requests) {
          log.batches.push(items.map(({ envelope }) => envelope?.body ?? ""));
          const refused = new Set<string>();
          const results = items.map(({ requestId, envelope }): DeliverDMResult => {
            const recipient = envelope?.recipientAgent ?? "";
            const verdict = refused.has(recipient)
              ? reasonError("BATCH_ITEM_HELD_BACK")
              : store(requestId, envelope?.body ?? "");
            if (verdict === "accept") return { requestId, result: { $case: "accepted", value: acceptance } };
            refused.add(recipient);
            return { requestId, result: { $case: "refused", value: toFailure(failureOf(verdict)) } };
          });
          if (breaksAfter(log.batches.length)) throw reasonError("UNAVAILABLE");
          await stream.send({ results });
        }
      },
    }),
    getReceipt: defineUnary({
      handle({ key }) {
        log.asked.push(key);
        if (!byKey.has(key)) throw reasonError("UNKNOWN_DELIVERY");
        const receipt: Receipt = {
          key,
          attemptEpoch: 1,
          state: DeliveryState.DELIVERY_STATE_QUEUED,
          reply: undefined,
          failure: undefined,
          position: 1,
          updatedAt: undefined,
          deliveryId: key,
        };
        return Promise.resolve({ receipt });
      },
    }),
    watchReceipts: defineServerStream({
      async *handle(_, { signal }) {
        yield { cursor: undefined, update: { $case: "info" as const, value: info } };
        await new Promise((resolve) => {
          signal.addEventListener("abort", resolve, { once: true });
        });
      },
    }),
    cancelDm: defineUnimplemented(),
    listRoster: defineUnimplemented(),
    pair: defineUnimplemented(),
  });
  const listener = await startListener({
    name: "scripted",
    services: [service],
    authenticate: () => ({ kind: "anonymous" }),
    transport: {
      kind: "tls",
      host: "127.0.0.1",
      port: 0,
      tlsOptions: serverTlsOptions(leaves),
      authorize: () => "anonymous",
    },
    log: silentLogger(),
  });
  return {
    ...log,
    address: listener.address,
    pin: identity.pin,
    mostAtOnce: () => most,
    close: () => listener.close(),
  };
}
