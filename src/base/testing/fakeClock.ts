import type { Clock } from "../clock.js";

interface FakeTimer {
  dueMs: number;
  order: number;
  run: () => void;
}

/** A clock that moves only when told. Timers run in due order, equal ones in the order they were set. */
export class FakeClock implements Clock {
  #epochMs: number;
  #elapsedMs = 0;
  #order = 0;
  #timers: FakeTimer[] = [];

  /** @param startMs wall time at the start, in epoch milliseconds. */
  constructor(startMs = 1_700_000_000_000) {
    this.#epochMs = startMs;
  }

  /** See {@link Clock.now}. */
  now(): number {
    return this.#epochMs + this.#elapsedMs;
  }

  /** See {@link Clock.monotonic}. */
  monotonic(): number {
    return this.#elapsedMs;
  }

  /** See {@link Clock.after}. */
  after(ms: number, run: () => void): () => void {
    const timer: FakeTimer = { dueMs: this.#elapsedMs + Math.max(0, ms), order: this.#order++, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** How many timers wait: a test asserts 0 to show that nothing leaked. */
  get pending(): number {
    return this.#timers.length;
  }

  /** Moves time on by `ms` and runs what falls due, timers set on the way included. */
  advance(ms: number): void {
    const end = this.#elapsedMs + ms;
    for (let next = this.#takeDue(end); next; next = this.#takeDue(end)) next.run();
    this.#elapsedMs = end;
  }

  /** Like {@link advance}, but lets promise callbacks and immediates run before and after every timer. */
  async advanceAsync(ms: number): Promise<void> {
    const end = this.#elapsedMs + ms;
    await turn();
    for (let next = this.#takeDue(end); next; next = this.#takeDue(end)) {
      next.run();
      await turn();
    }
    this.#elapsedMs = end;
  }

  /** Shifts wall time alone, as an administrator or NTP would; timers and durations do not notice. */
  jumpWallTime(ms: number): void {
    this.#epochMs += ms;
  }

  #takeDue(endMs: number): FakeTimer | undefined {
    const due = this.#timers
      .filter((timer) => timer.dueMs <= endMs)
      .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0];
    if (!due) return undefined;
    this.#timers = this.#timers.filter((timer) => timer !== due);
    this.#elapsedMs = Math.max(this.#elapsedMs, due.dueMs);
    return due;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
