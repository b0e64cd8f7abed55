import type { Reason } from "./reasons.js";
import type { RpcError } from "./rpcError.js";

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
 * Whether a call that failed so may have been answered with a commit that was not heard of. Every other reason was typed by the far
 * side and says that nothing was kept. Pure.
 */
export function leavesDoubt(error: RpcError): boolean {
  return IN_DOUBT.has(error.reason);
}
