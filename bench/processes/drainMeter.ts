import { createDeferred } from "../../src/base/deferred.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import type { Store } from "../../src/store/store.js";
import { cpuTimeOf, ownCpuTime } from "../lib/cpuTime.js";

/** The part that warms up the code of both ends and is not measured. */
const WARM_UP = 0.25;
/** Longest drain, milliseconds. */
const LIMIT_MS = 300_000;

/** What a drain came to, after its warm-up. */
export interface DrainFigures {
  readonly perSecond: number;
  /** CPU of this gateway for each message, microseconds. */
  readonly senderUs: number;
  /** CPU of the gateway that takes the messages, for each message, microseconds. */
  readonly receiverUs: number;
}

interface Mark {
  readonly at: number;
  readonly queued: number;
  readonly senderUs: number;
  readonly receiverUs: number;
}

/** Follows a backlog from commit to commit until nothing of it waits. To be made before the gateway begins to send. */
export class DrainMeter {
  readonly #store: Pick<Store, "reader" | "writer">;
  readonly #receiver: number;
  readonly #done = createDeferred<DrainFigures>();
  #warm: Mark | undefined;

  /** @param receiver process of the gateway that takes the messages */
  constructor(store: Pick<Store, "reader" | "writer">, receiver: number) {
    this.#store = store;
    this.#receiver = receiver;
    const total = this.#queued();
    const limit = setTimeout(() => {
      this.#done.reject(new Error(`${String(this.#queued())} of ${String(total)} messages still wait`));
    }, LIMIT_MS);
    const stop = store.writer.onCommit(() => {
      const queued = this.#queued();
      if (this.#warm === undefined && queued <= total * (1 - WARM_UP)) this.#warm = this.#mark(queued);
      if (queued > 0 || this.#warm === undefined) return;
      stop();
      clearTimeout(limit);
      this.#done.resolve(figuresOf(this.#warm, this.#mark(queued)));
    });
    this.#done.promise.catch(() => undefined);
  }

  /** Resolves when nothing waits. */
  get figures(): Promise<DrainFigures> {
    return this.#done.promise;
  }

  #queued(): number {
    return readDeliveryTotals(this.#store.reader).states.queued;
  }

  #mark(queued: number): Mark {
    return { at: performance.now(), queued, senderUs: ownCpuTime(), receiverUs: cpuTimeOf(this.#receiver) };
  }
}

function figuresOf(warm: Mark, end: Mark): DrainFigures {
  const messages = warm.queued - end.queued;
  return {
    perSecond: (messages * 1_000) / (end.at - warm.at),
    senderUs: (end.senderUs - warm.senderUs) / messages,
    receiverUs: (end.receiverUs - warm.receiverUs) / messages,
  };
}
