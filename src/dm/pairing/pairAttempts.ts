import type { Clock } from "../../base/clock.js";
import { FailureTally } from "../../base/failureTally.js";

/** Wrong secrets that a source may give before it has to wait. */
export const FREE_ATTEMPTS = 5;
/** Longest wait, milliseconds. */
export const LONGEST_WAIT_MS = 60_000;

/**
 * Slows down whoever gives wrong secrets, by the address that it comes from. Invites are not touched: a secret of 128 bits is not
 * guessed, and a stranger's guesses must not spend what was made for somebody else. In memory.
 */
export function createPairAttempts(clock: Clock): FailureTally {
  return new FailureTally(clock, {
    // The last of them is answered at once, and it is the next attempt that waits.
    free: FREE_ATTEMPTS - 1,
    firstWaitMs: 1_000,
    longestWaitMs: LONGEST_WAIT_MS,
    forgetMs: 600_000,
    sources: 1_000,
  });
}
