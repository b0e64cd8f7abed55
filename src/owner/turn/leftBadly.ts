import type { Logger } from "../../base/logger.js";
import type { RpcError } from "../../rpc/rpcError.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { TurnParts } from "./turnParts.js";

/** Tells of a worker that failed after its turn's outcome was fixed: the outcome stands, and the worker is one to be looked at. */
export function leftBadly(
  { listeners }: Pick<TurnParts, "listeners">,
  log: Logger,
  { agent }: Pick<ClaimedInput, "agent">,
  error: RpcError,
): void {
  log.warn({ err: error }, "a worker failed after its turn had finished");
  listeners.workerTrouble(agent, error);
}
