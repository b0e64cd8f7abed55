import type { Clock } from "../../base/clock.js";
import { pause } from "../../base/pause.js";
import { RpcError } from "../../rpc/rpcError.js";

/** How failed attempts are slowed. */
export interface FailedAttemptsPolicy {
  /** Failures of one source that cost nothing: a mistyped token. */
  readonly free: number;
  /** Wait after the first failure beyond those, milliseconds; it doubles with each further one. */
  readonly firstWaitMs: number;
  /** Longest wait, milliseconds. */
  readonly longestWaitMs: number;
  /** Attempts of one source that may wait at once; further ones are refused and their connection is cut. */
  readonly waiting: number;
  /** A source without a failure for so long is forgotten, milliseconds. */
  readonly forgetMs: number;
  /** Most sources that are remembered; the one that failed least recently goes first. */
  readonly sources: number;
}

/** What a listener uses. */
export const FAILED_ATTEMPTS_POLICY: FailedAttemptsPolicy = {
  free: 3,
  firstWaitMs: 250,
  longestWaitMs: 8_000,
  waiting: 8,
  forgetMs: 600_000,
  sources: 1_024,
};

/** Makes those who guess wait. A caller with a valid token is never held up, whatever others from its address do. */
export interface FailedAttempts {
  /**
   * Counts a failure and resolves when its answer may go out, or when the signal aborts.
   * @throws RpcError OVERLOADED where too many wait already.
   */
  failed(source: string, signal: AbortSignal): Promise<void>;
  /** Sources that are remembered. */
  readonly size: number;
}

interface Source {
  failures: number;
  waiting: number;
  lastAt: number;
}

/** Counts failures by source, in bounded memory. */
export function createFailedAttempts(
  clock: Clock,
  policy: FailedAttemptsPolicy = FAILED_ATTEMPTS_POLICY,
): FailedAttempts {
  // In the order of the last failure, the oldest first.
  const sources = new Map<string, Source>();
  const entryOf = (source: string): Source => {
    const now = clock.monotonic();
    const found = sources.get(source);
    const entry =
      found === undefined || now - found.lastAt > policy.forgetMs
        ? { failures: 0, waiting: found?.waiting ?? 0, lastAt: now }
        : found;
    entry.lastAt = now;
    sources.delete(source);
    sources.set(source, entry);
    for (const oldest of sources.keys()) {
      if (sources.size <= policy.sources) break;
      sources.delete(oldest);
    }
    return entry;
  };
  return {
    get size() {
      return sources.size;
    },
    async failed(source, signal) {
      const entry = entryOf(source);
      entry.failures += 1;
      const beyond = entry.failures - policy.free;
      if (beyond <= 0) return;
      const waitMs = Math.min(policy.firstWaitMs * 2 ** Math.min(beyond - 1, 30), policy.longestWaitMs);
      if (entry.waiting >= policy.waiting) {
        throw new RpcError("OVERLOADED", {
          message: "Too many attempts from this address have failed.",
          hint: "Wait, and use a token that is valid here.",
          retryAfterMs: waitMs,
        });
      }
      entry.waiting += 1;
      try {
        await pause(clock, waitMs, signal);
      } finally {
        entry.waiting -= 1;
      }
    },
  };
}
