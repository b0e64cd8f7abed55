import type { Turn } from "../gen/talaria/gateway/v1/turn_service.js";
import type { Delivery } from "../gen/talaria/dm/v1/delivery.js";
import type { Failure } from "../gen/talaria/types/v1/failure.js";
import { type Reason, reasonOfNumber } from "../rpc/reasons.js";
import { RpcError } from "../rpc/rpcError.js";

/** Why a turn did not complete, as the error that a call would have ended with. */
export function turnError({ failure, executionId, inputId }: Turn): RpcError {
  return errorOf(failure, "TURN_FAILED", { execution: executionId, input: inputId });
}

/** Why a delivery ended without a reply. */
export function deliveryError({ failure, deliveryId }: Delivery): RpcError {
  return errorOf(failure, "UNKNOWN_ERROR", { delivery: deliveryId });
}

function errorOf(
  failure: Failure | undefined,
  otherwise: Reason,
  metadata: Readonly<Record<string, string>>,
): RpcError {
  if (failure === undefined) return new RpcError(otherwise, { metadata });
  const reason = reasonOfNumber(failure.reason);
  const { message, hint, foreignReason } = failure;
  return new RpcError(reason ?? otherwise, {
    metadata,
    ...(message === "" ? {} : { message }),
    ...(hint === "" ? {} : { hint }),
    ...(reason === undefined && foreignReason !== "" ? { wireReason: foreignReason } : {}),
  });
}
