import { createDeferred, type Deferred } from "../base/deferred.js";
import { LIMITS } from "../base/limits.js";
import {
  PeerServiceService,
  type DeliverDMResponse,
  type Receipt,
  type WatchReceiptsResponse,
} from "../gen/talaria/dm/v1/peer_service.js";
import { implementService, type ServiceImplementation } from "../rpc/harness/implementService.js";
import { defineBidi, defineServerStream, defineUnary, defineUnimplemented } from "../rpc/harness/methods.js";
import { reasonError, RpcError } from "../rpc/rpcError.js";
import { checkCount } from "../rpc/wire/checkCount.js";
import { errorOfFailure, hubAway } from "./failures.js";
import type { HubSession } from "./hubSession.js";

/** Receipts that wait for a watcher; beyond it the watcher is told to ask. */
const WAITING_RECEIPTS = 256;

/** What this machine's gateway sees of the gateway that relays. */
export interface LocalPeerService {
  readonly service: ServiceImplementation;
  /** Hands on receipts that came down. */
  onReceipts(receipts: readonly Receipt[]): void;
}

/**
 * The gateway that relays, as a peer of this machine's gateway: what is asked of it goes over the connection that there is, and
 * where there is none it cannot be reached. Nothing is kept here; this machine's gateway tries again as with any peer.
 * @param session the connection; undefined while there is none
 */
export function createLocalPeerService(session: () => HubSession | undefined): LocalPeerService {
  const watchers = new Set<ReceiptWatcher>();
  const current = (): HubSession => {
    const found = session();
    if (found === undefined) throw hubAway();
    return found;
  };
  const service = implementService(PeerServiceService, {
    deliverDm: defineUnary({
      async handle(request): Promise<DeliverDMResponse> {
        const [answer] = await current().deliver([request]);
        if (answer?.result === undefined) throw new RpcError("MALFORMED_MESSAGE");
        if (answer.result.$case === "refused") throw errorOfFailure(answer.result.value);
        return answer.result.value;
      },
    }),
    deliverDMs: defineBidi({
      async handle(stream, { draining }) {
        for await (const { items } of stream.requests) {
          checkCount("items", items.length, LIMITS.batchItems);
          await stream.send({ results: [...(await current().deliver(items))] });
          if (draining.aborted) throw reasonError("DRAINING");
        }
      },
    }),
    getReceipt: defineUnary({
      async handle({ key }) {
        const receipt = await current().ask(key);
        if (receipt === undefined) throw reasonError("UNKNOWN_DELIVERY");
        return { receipt };
      },
    }),
    watchReceipts: defineServerStream({
      handle(_request, { signal, draining }) {
        return watch(current(), watchers, signal, draining);
      },
    }),
    cancelDm: defineUnary({
      async handle({ requestId }) {
        const { receipt, failure } = await current().cancel(requestId);
        if (failure !== undefined) throw errorOfFailure(failure);
        if (receipt === undefined) throw reasonError("UNKNOWN_DELIVERY");
        return { receipt };
      },
    }),
    listRoster: defineUnary({
      handle({ fingerprint: known }) {
        const { welcome, entries, fingerprint } = current();
        const { info } = welcome;
        return Promise.resolve({ info, entries: fingerprint === known ? [] : [...entries], fingerprint });
      },
    }),
    pair: defineUnimplemented(),
  });
  return {
    service,
    onReceipts(receipts) {
      for (const watcher of watchers) watcher.push(receipts);
    },
  };
}

/** Who answers, then a gap, because what changed while nobody was connected is not known here, then what comes down. */
async function* watch(
  session: HubSession,
  watchers: Set<ReceiptWatcher>,
  signal: AbortSignal,
  draining: AbortSignal,
): AsyncGenerator<WatchReceiptsResponse> {
  const { info } = session.welcome;
  if (info === undefined) throw hubAway();
  const watcher = new ReceiptWatcher();
  watchers.add(watcher);
  const over = AbortSignal.any([signal, draining, session.signal]);
  const wake = (): void => {
    watcher.wake();
  };
  over.addEventListener("abort", wake, { once: true });
  const gap: WatchReceiptsResponse = {
    cursor: undefined,
    update: { $case: "gap", value: { requested: undefined, oldestKept: undefined } },
  };
  try {
    yield { cursor: undefined, update: { $case: "info", value: info } };
    yield gap;
    while (!over.aborted) {
      const taken = await watcher.take();
      if (taken.missed) yield gap;
      if (taken.receipts.length > 0) {
        yield { cursor: undefined, update: { $case: "receipts", value: { receipts: taken.receipts } } };
      }
    }
    if (!signal.aborted) throw hubAway();
  } finally {
    over.removeEventListener("abort", wake);
    watchers.delete(watcher);
  }
}

/** Receipts on their way to one watcher. */
class ReceiptWatcher {
  #waiting: Receipt[] = [];
  #missed = false;
  #woken: Deferred<void> = createDeferred<void>();

  push(receipts: readonly Receipt[]): void {
    this.#waiting.push(...receipts);
    if (this.#waiting.length > WAITING_RECEIPTS) {
      this.#waiting = [];
      this.#missed = true;
    }
    this.wake();
  }

  wake(): void {
    this.#woken.resolve();
  }

  /** Waits until there is something, or until it is woken. At most 32 receipts, which fit in a message. */
  async take(): Promise<{ readonly receipts: Receipt[]; readonly missed: boolean }> {
    if (this.#waiting.length === 0 && !this.#missed) await this.#woken.promise;
    this.#woken = createDeferred<void>();
    const taken = { receipts: this.#waiting.splice(0, 32), missed: this.#missed };
    this.#missed = false;
    return taken;
  }
}
