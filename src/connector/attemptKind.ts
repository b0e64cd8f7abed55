import { leavesDoubt } from "../rpc/leavesDoubt.js";
import type { RpcError } from "../rpc/rpcError.js";

/**
 * What a failed delivery to this machine's gateway means: `inDoubt`, it may hold the message and is tried again with the same
 * key; `refused`, it does not hold it and has said why. Pure.
 */
export function attemptKind(error: RpcError): "inDoubt" | "refused" {
  return leavesDoubt(error) ? "inDoubt" : "refused";
}
