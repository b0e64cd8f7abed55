import type { Clock } from "../../base/clock.js";
import { FailureTally, type FailureTallyPolicy } from "../../base/failureTally.js";
import { pause } from "../../base/pause.js";
import { RpcError } from "../../rpc/rpcError.js";

/** How failed attempts are slowed. */
export interface FailedAttemptsPolicy extends FailureTallyPolicy {
  /** Attempts of one source that may wait at once; further ones are refused and their connection is cut. */
  readonly waiting: number;
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

/** Counts failures by source, in bounded memory. */
export function createFailedAttempts(
  clock: Clock,
  policy: FailedAttemptsPolicy = FAILED_ATTEMPTS_POLICY,
): FailedAttempts {
  const tally = new FailureTally(clock, policy);
  // Of the sources that have attempts waiting, how many.
  const waiting = new Map<string, number>();
  return {
    get size() {
      return tally.size;
    },
    async failed(source, signal) {
      const waitMs = tally.failed(source);
      if (waitMs === 0) return;
      const before = waiting.get(source) ?? 0;
      if (before >= policy.waiting) {
        throw new RpcError("OVERLOADED", {
          message: "Too many attempts from this address have failed.",
          hint: "Wait, and use a token that is valid here.",
          retryAfterMs: waitMs,
        });
      }
      waiting.set(source, before + 1);
      try {
        await pause(clock, waitMs, signal);
      } finally {
        const left = (waiting.get(source) ?? 1) - 1;
        if (left === 0) waiting.delete(source);
        else waiting.set(source, left);
      }
    },
  };
}
