import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";

/** Of the loop's time work may take this part; the rest is everybody else's. */
const SHARE = 0.1;
/** Work that takes no longer than this in a row waits for nothing, milliseconds. */
const BURST_MS = 10;

/** Keeps work that others can cause without end to its part of the loop's time, whoever brings it. */
export class LoopShare {
  readonly #clock: Clock;
  #wake = (): void => undefined;
  #last = Promise.resolve();
  #debtMs = 0;
  #countedAt: number;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#countedAt = clock.monotonic();
  }

  /** Does a piece of work once there is time for it, after what others have brought before. Rejects with what it throws. */
  async run<T>(work: () => T): Promise<T> {
    const before = this.#last;
    const over = createDeferred<void>();
    this.#last = over.promise;
    await before;
    for (let wait = this.#waitMs(); wait > 0 && !this.#closed; wait = this.#waitMs()) await this.#sleep(wait);
    const began = this.#clock.monotonic();
    try {
      return work();
    } finally {
      this.#debtMs += this.#clock.monotonic() - began;
      over.resolve();
    }
  }

  /** Lets whoever waits go on; nothing waits any more. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #waitMs(): number {
    const now = this.#clock.monotonic();
    this.#debtMs = Math.max(0, this.#debtMs - (now - this.#countedAt) * SHARE);
    this.#countedAt = now;
    return (this.#debtMs - BURST_MS) / SHARE;
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
