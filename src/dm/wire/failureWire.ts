import { cutToCodePoints } from "../../base/codePoints.js";
import type { Failure } from "../../gen/talaria/types/v1/failure.js";
import { isReason, reasonEntry, reasonOfNumber } from "../../rpc/reasons.js";
import type { RpcError } from "../../rpc/rpcError.js";
import type { StoredFailure } from "../../store/storedFailure.js";
import { fromTimestamp, toOptionalTimestamp } from "./times.js";

/** A stored failure as the contract writes it. */
export function toFailure(failure: StoredFailure): Failure {
  const known = isReason(failure.reason);
  return {
    reason: (known ? reasonEntry(failure.reason).number : 0) as Failure["reason"],
    message: failure.message,
    hint: failure.hint,
    retryable: failure.retryable,
    resetsAt: toOptionalTimestamp(failure.resetsAt),
    foreignReason: failure.foreignReason ?? (known ? "" : failure.reason),
  };
}

/** A failure that another gateway sent, bounded; a reason that is not known here is kept as text. */
export function fromFailure(failure: Failure): StoredFailure {
  const reason = reasonOfNumber(failure.reason);
  const resetsAt = fromTimestamp(failure.resetsAt);
  const foreignReason = failure.foreignReason === "" ? undefined : cutToCodePoints(failure.foreignReason, 64);
  const unknown = foreignReason ?? (reason === undefined ? `REASON_${String(failure.reason)}` : undefined);
  return {
    reason: reason ?? "PEER_REFUSED",
    message: cutToCodePoints(failure.message, 4_096),
    hint: cutToCodePoints(failure.hint, 1_024),
    retryable: failure.retryable,
    ...(resetsAt === undefined ? {} : { resetsAt }),
    ...(unknown === undefined ? {} : { foreignReason: unknown }),
  };
}

/** An error of a call as rows keep it. */
export function failureOfError(error: RpcError): StoredFailure {
  return {
    reason: error.reason,
    message: cutToCodePoints(error.message, 4_096),
    hint: cutToCodePoints(error.hint, 1_024),
    retryable: error.retryable,
    ...(error.wireReason === undefined ? {} : { foreignReason: cutToCodePoints(error.wireReason, 64) }),
  };
}
