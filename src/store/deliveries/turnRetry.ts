import type { StoredFailure } from "../storedFailure.js";

/** How a failed turn is run again: as it is, or after the conversation has been made shorter. */
export type RetryMode = "resume" | "compress_then_resume";

/** The provider or the worker failed; the message is as good as before. Names are those of the reason registry. */
const TRANSIENT: ReadonlySet<string> = new Set([
  "PROVIDER_RATE_LIMIT",
  "PROVIDER_SERVER",
  "PROVIDER_UNREACHABLE",
  "WORKER_LOST",
  "WORKER_EXITED",
  "WORKER_UNRESPONSIVE",
  "WORKER_HELLO_TIMEOUT",
  "HEARTBEAT_MISSED",
]);

/**
 * Longest that a retry waits for a limit to reset, milliseconds: its lane waits with it. What a provider asks for beyond that is longer
 * than a runtime waits within a turn, and the failure says when the limit resets.
 */
export const RETRY_WAIT_MAX_MS = 60_000;

/** What is known of a turn that a message started and that has ended. */
export interface EndedTurn {
  readonly outcome: "completed" | "failed" | "interrupted" | "unknown";
  readonly failure: StoredFailure | undefined;
  /** Whether a Stop was latched, whatever the turn then ended with. */
  readonly stopped: boolean;
  /** Whether the turn was a retry itself. */
  readonly retried: boolean;
  /** When it ended, epoch milliseconds. */
  readonly now: number;
}

/**
 * Whether a message's turn is run again by itself, and how; undefined = its end stands. Once at most, in the same session, and only for
 * failures that may pass: never for keys, quotas, configuration or models, never for a reason that is not known, never
 * where the outcome is in doubt, never after a Stop, and never where the limit that it met resets later than {@link RETRY_WAIT_MAX_MS}
 * from now. A lost worker is FAILED only where no tool call was open. Pure.
 * Source: issue 4, section 4.
 */
export function retryOf({ outcome, failure, stopped, retried, now }: EndedTurn): RetryMode | undefined {
  if (outcome !== "failed" || failure === undefined || stopped || retried) return undefined;
  if ((notBefore(failure, now) ?? now) - now > RETRY_WAIT_MAX_MS) return undefined;
  if (failure.reason === "CONTEXT_OVERFLOW") return "compress_then_resume";
  // A runtime that names a class that passes and says that this case of it does not is believed.
  return TRANSIENT.has(failure.reason) && failure.retryable ? "resume" : undefined;
}

/** When the limit that a failure names resets, epoch milliseconds; undefined where it names none, or one that has reset. Pure. */
export function notBefore({ resetsAt }: StoredFailure, now: number): number | undefined {
  return resetsAt !== undefined && resetsAt > now ? resetsAt : undefined;
}
