import type { Reason } from "../rpc/reasons.js";
import type { RpcError } from "../rpc/rpcError.js";

/** The call may have been answered with a commit that was not heard of. */
const IN_DOUBT: ReadonlySet<Reason> = new Set<Reason>([
  "UNAVAILABLE",
  "DEADLINE_EXCEEDED",
  "CANCELLED",
  "INTERNAL",
  "UNKNOWN_ERROR",
  "DATA_LOST",
  "MALFORMED_MESSAGE",
]);

/**
 * What a failed delivery to this machine's gateway means: `inDoubt`, it may hold the message and is tried again with the same
 * key; `refused`, it does not hold it and has said why. Pure.
 */
export function attemptKind(error: RpcError): "inDoubt" | "refused" {
  return IN_DOUBT.has(error.reason) ? "inDoubt" : "refused";
}
