import { cutToCodePoints } from "../../base/codePoints.js";
import type { Failure } from "../../gen/talaria/types/v1/failure.js";
import { reasonNumber } from "../reasonNumber.js";
import { isReason } from "../reasons.js";
import { RpcError } from "../rpcError.js";
import { toOptionalTimestamp } from "./times.js";

/** Longest message of a failure, code points. */
const MAX_MESSAGE = 4_096;
/** Longest hint of a failure, code points. */
const MAX_HINT = 1_024;

/** Why something ended badly, as plain data. Rows keep it in this form. */
export interface FailureFacts {
  /** Name in the reason registry. */
  readonly reason: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: boolean;
  /** When a limit resets, epoch milliseconds. */
  readonly resetsAt?: number;
  /** The reason as a foreign peer spelled it, where it is not known here. */
  readonly foreignReason?: string;
}

/** A failure as the contract writes it. */
export function toFailure(failure: FailureFacts): Failure {
  const known = isReason(failure.reason);
  return {
    reason: isReason(failure.reason) ? reasonNumber(failure.reason) : 0,
    message: failure.message,
    hint: failure.hint,
    retryable: failure.retryable,
    resetsAt: toOptionalTimestamp(failure.resetsAt),
    foreignReason: failure.foreignReason ?? (known ? "" : failure.reason),
  };
}

/** Anything that was caught, as plain data within the contract's bounds. */
export function failureOf(caught: unknown): FailureFacts {
  const error = RpcError.from(caught);
  return {
    reason: error.reason,
    message: cutToCodePoints(error.message, MAX_MESSAGE),
    hint: cutToCodePoints(error.hint, MAX_HINT),
    retryable: error.retryable,
    ...(error.wireReason === undefined ? {} : { foreignReason: cutToCodePoints(error.wireReason, 64) }),
  };
}
