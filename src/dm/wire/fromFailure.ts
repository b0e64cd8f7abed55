import { cutToCodePoints } from "../../base/codePoints.js";
import type { Failure } from "../../gen/talaria/types/v1/failure.js";
import { isReason, reasonOfNumber } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { StoredFailure } from "../../store/storedFailure.js";
import { fromTimestamp } from "../../rpc/wire/times.js";

/** A refusal that another gateway sent inside a message, as the error that a call of its own would have ended with. */
export function errorOfFailure(failure: Failure): RpcError {
  const { reason, message, hint, foreignReason } = fromFailure(failure);
  return new RpcError(isReason(reason) ? reason : "PEER_REFUSED", {
    message,
    hint,
    ...(foreignReason === undefined ? {} : { wireReason: foreignReason }),
  });
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
