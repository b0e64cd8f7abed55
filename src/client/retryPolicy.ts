import type { Random } from "../base/random.js";
import { reasonEntry } from "../rpc/reasons.js";
import type { RpcError } from "../rpc/rpcError.js";

/** How long and how often a client tries again. */
export interface RetryPolicy {
  /** Longest first wait, milliseconds; the bound doubles with each further try. */
  readonly firstMs: number;
  /** Longest wait, milliseconds. */
  readonly longestMs: number;
  /** Tries of one call, the first included; watches count those without progress by time instead. */
  readonly attempts: number;
  /** How long a watch or a turn goes on trying without having heard anything, milliseconds. */
  readonly reconnectMs: number;
}

/** What a client does unless it is told otherwise. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  firstMs: 200,
  longestMs: 5_000,
  attempts: 5,
  reconnectMs: 120_000,
};

/**
 * The wait before a try, milliseconds: full jitter under a bound that doubles, and never less than the gateway asks for.
 * @param failures how many tries have failed, from 1
 */
export function retryDelay(
  failures: number,
  error: RpcError,
  random: Random,
  { firstMs, longestMs }: RetryPolicy = DEFAULT_RETRY_POLICY,
): number {
  const bound = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(random.fraction() * bound, error.details.retryAfterMs ?? 0);
}

/**
 * Whether a call that may be repeated should be: the connection broke, the gateway is going down or away, or it asks for a later
 * try. What the caller cancelled, or gave too little time, is not.
 */
export function shouldRetry(error: RpcError, aborted: boolean): boolean {
  if (aborted) return false;
  const { code, retryable } = reasonEntry(error.reason);
  switch (code) {
    case "UNAVAILABLE":
      return retryable;
    case "CANCELLED":
      // Not by this side: the gateway was stopped with the call on it.
      return error.reason === "CANCELLED";
    default:
      return retryable && error.details.retryAfterMs !== undefined;
  }
}
