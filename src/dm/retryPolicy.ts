import { leavesDoubt } from "../rpc/leavesDoubt.js";
import type { Reason } from "../rpc/reasons.js";
import type { RpcError } from "../rpc/rpcError.js";

/** What a failed attempt at a message means. */
export type AttemptVerdict =
  /** It will never be taken: the message ends with the far side's reason. */
  | { readonly kind: "refused" }
  /** It was not taken, this time. `destination` says whether the far side as a whole is at fault, or this message's lane. */
  | { readonly kind: "notYet"; readonly destination: boolean; readonly retryAfterMs?: number }
  /** Nobody here knows whether it was taken. */
  | { readonly kind: "undecided" };

/** The recipient's lane is at fault, not the far side. */
const LANE: ReadonlySet<Reason> = new Set<Reason>([
  "RECIPIENT_QUOTA",
  "SENDER_QUOTA",
  "LOOP_GUARD",
  "TARGET_BUSY",
  "TARGET_OFFLINE",
  "BATCH_ITEM_HELD_BACK",
]);

/** Judges an error of `DeliverDM`. Pure. An error that a far side typed says by its reason that nothing was kept. */
export function judgeAttempt(error: RpcError): AttemptVerdict {
  if (leavesDoubt(error)) return { kind: "undecided" };
  if (!error.retryable) return { kind: "refused" };
  const { retryAfterMs } = error.details;
  return {
    kind: "notYet",
    destination: !LANE.has(error.reason),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** What a wait is computed from. */
export interface BackoffOptions {
  /** Failures before this wait, from 1. */
  readonly failures: number;
  /** Longest first wait, milliseconds. */
  readonly minMs: number;
  /** Longest wait, milliseconds. */
  readonly maxMs: number;
  /** A number in [0, 1). */
  readonly fraction: number;
  /** What the far side asked for at least, milliseconds. */
  readonly retryAfterMs?: number;
}

/**
 * The wait before the next attempt: anywhere between nothing and a bound that doubles with each failure, so that many senders
 * do not come back together; never less than what the far side asked for.
 */
export function backoffMs({ failures, minMs, maxMs, fraction, retryAfterMs = 0 }: BackoffOptions): number {
  const bound = Math.min(maxMs, minMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.max(Math.floor(fraction * bound), Math.min(retryAfterMs, maxMs));
}
