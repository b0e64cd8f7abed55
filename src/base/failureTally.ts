import type { Clock } from "./clock.js";

/** What failed attempts cost the source that they come from. */
export interface FailureTallyPolicy {
  /** Failures of one source that cost nothing: a mistyped secret. */
  readonly free: number;
  /** Wait after the first failure beyond those, milliseconds; it doubles with each further one. */
  readonly firstWaitMs: number;
  /** Longest wait, milliseconds. */
  readonly longestWaitMs: number;
  /** A source without a failure for so long starts anew, milliseconds. */
  readonly forgetMs: number;
  /** Most sources that are remembered; the one that failed least recently goes first. */
  readonly sources: number;
}

/** Counts failed attempts by their source, in bounded memory, and says how long each source is to wait. */
export class FailureTally {
  readonly #clock: Clock;
  readonly #policy: FailureTallyPolicy;
  // In the order of the last failure, the oldest first.
  readonly #sources = new Map<string, { readonly failures: number; readonly lastAt: number }>();

  constructor(clock: Clock, policy: FailureTallyPolicy) {
    this.#clock = clock;
    this.#policy = policy;
  }

  /** Sources that are remembered. */
  get size(): number {
    return this.#sources.size;
  }

  /** Counts a failure. @returns the wait that it costs, milliseconds; 0 = none */
  failed(source: string): number {
    const { forgetMs, sources } = this.#policy;
    const now = this.#clock.monotonic();
    const known = this.#sources.get(source);
    const failures = known === undefined || now - known.lastAt > forgetMs ? 1 : known.failures + 1;
    this.#sources.delete(source);
    this.#sources.set(source, { failures, lastAt: now });
    const [oldest] = this.#sources.keys();
    if (this.#sources.size > sources && oldest !== undefined) this.#sources.delete(oldest);
    return this.#waitAfter(failures);
  }

  /** What is left of the wait that a source's last failure cost, milliseconds; 0 = nothing. */
  waitOf(source: string): number {
    const known = this.#sources.get(source);
    if (known === undefined) return 0;
    return Math.max(0, known.lastAt + this.#waitAfter(known.failures) - this.#clock.monotonic());
  }

  /** Lets a source start anew, because an attempt of its was right. */
  succeeded(source: string): void {
    this.#sources.delete(source);
  }

  #waitAfter(failures: number): number {
    const { free, firstWaitMs, longestWaitMs } = this.#policy;
    const beyond = failures - free;
    return beyond <= 0 ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(30, beyond - 1));
  }
}
