import type { Clock } from "../base/clock.js";
import { CheckFailure } from "./checkFailure.js";

/** Lets a check wait for what a worker does, with a deadline and never for a fixed time. */
export class SignalBoard {
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** Whether nothing more can come, so that waiting is in vain. */
  hopeless: () => boolean = () => false;
  #wake: (() => void)[] = [];

  /** @param waitMs longest wait for one thing, milliseconds. */
  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** Makes everyone who waits look again. */
  changed(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const run of wake) run();
  }

  /** Waits until `look` finds something. @throws CheckFailure with `state()` after `ms` milliseconds, or once it is hopeless. */
  async until<T>(what: string, look: () => T | undefined, state: () => string, ms = this.#waitMs): Promise<T> {
    const deadline = this.#clock.monotonic() + ms;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.hopeless()) throw new CheckFailure(`no ${what}; ${state()}`);
      const left = deadline - this.#clock.monotonic();
      if (left <= 0) throw new CheckFailure(`no ${what} in ${String(Math.round(ms))} ms; ${state()}`);
      await this.#change(left);
    }
  }

  /** Watches for `ms` milliseconds that `look` finds nothing. @throws CheckFailure with what it finds. */
  async never(look: () => string | undefined, ms: number): Promise<void> {
    const over = this.#clock.monotonic() + ms;
    for (let left = ms; left > 0; left = over - this.#clock.monotonic()) {
      const found = look();
      if (found !== undefined) throw new CheckFailure(found);
      await this.#change(left);
    }
    const found = look();
    if (found !== undefined) throw new CheckFailure(found);
  }

  /** Waits for a change, at most `ms` milliseconds. */
  async #change(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#wake.push(() => {
        cancel();
        resolve();
      });
    });
  }
}
