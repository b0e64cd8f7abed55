import { createDeferred } from "../../src/base/deferred.js";
import { cpuTimeOf, ownCpuTime } from "./cpuTime.js";

/** What one flood cost, after its warm-up. */
export interface FloodFigures {
  /** Source deltas in the measured part. */
  readonly deltas: number;
  readonly seconds: number;
  /** CPU of the receiving process, microseconds. */
  readonly receiverUs: number;
  /** CPU of all sending processes, microseconds. */
  readonly senderUs: number;
}

/** What a flood is. */
export interface FloodShape {
  readonly workers: number;
  /** Deltas in one turn of the source's loop; in a paced flood 1. */
  readonly burst: number;
  /** Deltas of each worker. */
  readonly count: number;
  /** Bytes of one delta's text. */
  readonly bytes: number;
  /** Pause of the source after each delta, milliseconds; absent = as fast as it goes. */
  readonly pauseMs?: number;
}

/** The part that warms up the code of both ends and is not measured. */
const WARM_UP = 0.25;

interface Mark {
  readonly at: number;
  readonly bytes: number;
  readonly receiverUs: number;
  readonly senderUs: number;
}

/** Counts what arrives of a flood, in the process that receives it, and takes the clocks when it is warm and when it is over. */
export class FloodMeter {
  readonly #shape: FloodShape;
  readonly #pids: readonly number[];
  readonly #done = createDeferred<FloodFigures>();
  readonly #expected: number;
  #bytes = 0;
  #warm: Mark | undefined;
  #over = false;

  constructor(shape: FloodShape, pids: readonly number[]) {
    this.#shape = shape;
    this.#pids = pids;
    this.#expected = shape.workers * shape.count * shape.bytes;
  }

  /** Resolves when all bytes have arrived. */
  get figures(): Promise<FloodFigures> {
    return this.#done.promise;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Says that text has arrived. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#warm === undefined) {
      if (this.#bytes >= this.#expected * WARM_UP) this.#warm = this.#mark();
    } else if (this.#bytes >= this.#expected && !this.#over) {
      this.#over = true;
      this.#done.resolve(this.#figuresSince(this.#warm));
    }
  }

  /** Ends the count. */
  fail(error: Error): void {
    this.#done.reject(error);
  }

  #figuresSince(warm: Mark): FloodFigures {
    const end = this.#mark();
    return {
      deltas: (end.bytes - warm.bytes) / this.#shape.bytes,
      seconds: (end.at - warm.at) / 1_000,
      receiverUs: end.receiverUs - warm.receiverUs,
      senderUs: end.senderUs - warm.senderUs,
    };
  }

  #mark(): Mark {
    return {
      at: performance.now(),
      bytes: this.#bytes,
      receiverUs: ownCpuTime(),
      senderUs: this.#pids.reduce((sum, pid) => sum + cpuTimeOf(pid), 0),
    };
  }
}
