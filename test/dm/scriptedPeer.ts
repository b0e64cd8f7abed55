import { EventEmitter, once } from "node:events";
import { systemClock } from "../../src/base/clock.js";
import { DEFAULT_BUDGETS } from "../../src/base/budgets.js";
import { silentLogger } from "../../src/base/logger.js";
import { createChangeSignal, type ChangeSignal } from "../../src/dm/changeSignal.js";
import { gatewayInfo } from "../../src/dm/gatewayInfo.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import type { GatewayInfo, RosterEntry } from "../../src/gen/talaria/dm/v1/roster.js";
import {
  PeerServiceService,
  type DeliverDMResult,
  type Receipt,
  type WatchReceiptsResponse,
} from "../../src/gen/talaria/dm/v1/peer_service.js";
import { implementService } from "../../src/rpc/harness/implementService.js";
import { defineBidi, defineServerStream, defineUnary, defineUnimplemented } from "../../src/rpc/harness/methods.js";
import { startListener } from "../../src/rpc/listener.js";
import { reasonError, RpcError } from "../../src/rpc/rpcError.js";
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
  /** What it says of itself; read at each watch. */
  readonly info?: () => Partial<GatewayInfo>;
  /** Whether a watch of its receipts is answered at all; default true. */
  readonly greets?: boolean;
  /** Waited for after a message was stored and before a single call is answered. */
  readonly beforeAnswer?: (body: string) => Promise<unknown>;
  /** How it answers a batch that it has stored: with a result for each item, or an empty list. Default: results. */
  readonly answersBatchesWith?: "results" | "nothing";
  /** What it says of a key; undefined for the truth. */
  readonly receiptOf?: (key: string) => Partial<Receipt> | RpcError | undefined;
  /** What it says of its agents, whatever was known before; undefined where it serves no roster. */
  readonly roster?: () => readonly RosterEntry[];
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
  /** Keys of the messages that came, in single calls and batches, as often as they came. */
  readonly keys: string[];
  /** Bodies that were accepted, in order, each once. */
  readonly kept: string[];
  /** Keys that were asked about. */
  readonly asked: string[];
  /** Fingerprints that its roster was asked for with. */
  readonly rosterAsked: string[];
  /** Watches of its receipts that have begun so far. */
  readonly watches: () => number;
  /** Resolves once somebody watches its receipts. */
  watched(): Promise<void>;
  /** Resolves once a single call has brought a body. */
  received(body: string): Promise<void>;
  /** Says something to whoever watches its receipts, from here on. @param place default: one more than what was said before */
  tell(update: NonNullable<WatchReceiptsResponse["update"]>, place?: bigint): void;
  close(): Promise<void>;
}

/** A receipt of a message that waits, but for what is said otherwise. */
export function makeReceipt(key: string, more: Partial<Receipt> = {}): Receipt {
  return {
    key,
    attemptEpoch: 1,
    state: DeliveryState.DELIVERY_STATE_QUEUED,
    reply: undefined,
    failure: undefined,
    position: 1,
    updatedAt: undefined,
    deliveryId: key,
    ...more,
  };
}

/** Serves a scripted peer to anybody. */
export async function scriptedPeer({
  judge = () => "accept",
  breaksAfter = () => false,
  info: own = () => ({}),
  greets = true,
  beforeAnswer = () => Promise.resolve(),
  receiptOf = () => undefined,
  answersBatchesWith = "results",
  roster,
}: PeerScript = {}): Promise<ScriptedPeer> {
  const identity = await ephemeralIdentity(systemClock.now());
  const leaves = await leafSource(identity, () => systemClock.now());
  const info = gatewayInfo({ name: "scripted", version: "1", storeId: "one" }, DEFAULT_BUDGETS);
  const byKey = new Map<string, string>();
  const log = {
    batches: [] as string[][],
    singles: [] as string[],
    kept: [] as string[],
    asked: [] as string[],
    rosterAsked: [] as string[],
    keys: [] as string[],
  };
  const seen = new EventEmitter();
  const told: WatchReceiptsResponse[] = [];
  const watching = new Set<ChangeSignal>();
  let watches = 0;
  let open = 0;
  let most = 0;
  const store = (key: string, body: string): Verdict => {
    log.keys.push(key);
    seen.emit("change");
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
        await beforeAnswer(envelope?.body ?? "");
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
          await stream.send({ results: answersBatchesWith === "results" ? results : [] });
        }
      },
    }),
    getReceipt: defineUnary({
      handle({ key }) {
        log.asked.push(key);
        const said = receiptOf(key);
        if (said instanceof RpcError) throw said;
        if (said === undefined && !byKey.has(key)) throw reasonError("UNKNOWN_DELIVERY");
        return Promise.resolve({ receipt: makeReceipt(key, said) });
      },
    }),
    watchReceipts: defineServerStream({
      async *handle(_, { signal }) {
        watches += 1;
        seen.emit("change");
        const changes = createChangeSignal();
        watching.add(changes);
        signal.addEventListener("abort", () => changes.raise(), { once: true });
        if (greets) yield { cursor: undefined, update: { $case: "info" as const, value: { ...info, ...own() } } };
        let next = told.length;
        while (!signal.aborted) {
          const step = told[next];
          if (step === undefined) await changes.wait();
          else {
            next += 1;
            yield step;
          }
        }
        watching.delete(changes);
      },
    }),
    cancelDm: defineUnimplemented(),
    listRoster:
      roster === undefined
        ? defineUnimplemented()
        : defineUnary({
            handle({ fingerprint }) {
              log.rosterAsked.push(fingerprint);
              return Promise.resolve({ info, entries: [...roster()], fingerprint: "scripted" });
            },
          }),
    pair: defineUnimplemented(),
  });
  const until = async (holds: () => boolean): Promise<void> => {
    const signal = AbortSignal.timeout(10_000);
    while (!holds()) await once(seen, "change", { signal });
  };
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
    watches: () => watches,
    watched: () => until(() => watches > 0),
    received: (body) => until(() => log.singles.includes(body)),
    tell(update, place = BigInt(told.length + 1)) {
      told.push({ cursor: { epoch: 0n, sequence: place }, update });
      for (const changes of watching) changes.raise();
    },
    close: () => listener.close(),
  };
}
