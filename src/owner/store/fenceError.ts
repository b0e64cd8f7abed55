import { RpcError } from "../../rpc/rpcError.js";
import type { FenceProblem } from "../../store/turns/fence.js";

/** The error that a stale writer gets. Every fence has its own reason. */
export function fenceError(problem: FenceProblem): RpcError {
  switch (problem) {
    case "unknown_execution":
      return new RpcError("UNKNOWN_EXECUTION");
    case "stale_epoch":
      return new RpcError("STALE_EPOCH");
    case "stale_generation":
      return new RpcError("STALE_GENERATION");
    case "ended":
      return new RpcError("EXECUTION_ENDED");
  }
}
