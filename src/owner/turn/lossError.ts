import type { WorkerError } from "../../gen/talaria/owner/v1/owner_service.js";
import { failureReason } from "../../rpc/failureReason.js";
import { type Reason, reasonOfNumber } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { ProcessExit } from "../launch/spawner.js";

/** A connection that broke or was given up says nothing about anybody's will: it must not read as a cancellation. */
export function lossError(caught: unknown): RpcError {
  const error = RpcError.from(caught);
  return error.reason === "CANCELLED" ? new RpcError("WORKER_LOST", { cause: error }) : error;
}

/** Whether the end of a stream tells no cause: it broke, or the worker closed it without a word. */
export function saysNothing(error: RpcError | undefined): boolean {
  return error === undefined || error.reason === "CANCELLED" || error.reason === "UNAVAILABLE";
}

/** The cause of a lost stream where only the end of the worker's process is known, or not even that. */
export function exitError(exit: ProcessExit | undefined): RpcError {
  if (exit === undefined) return new RpcError("WORKER_LOST");
  const how = exit.signal === null ? `with code ${String(exit.code)}` : `by ${exit.signal}`;
  return new RpcError("WORKER_EXITED", { message: `The worker's process ended ${how} before the turn did.` });
}

/**
 * The cause of a loss by the end of a worker's stream or process.
 * @param forced why the owner ended it by force, where it did: that alone counts then
 * @param error what ended the stream
 */
export function endCause(
  forced: Reason | undefined,
  error: RpcError | undefined,
  exit: ProcessExit | undefined,
): RpcError {
  if (forced !== undefined) return new RpcError(forced);
  return error === undefined || saysNothing(error) ? exitError(exit) : error;
}

/** What a worker says of its own failure. */
export function workerError(frame: WorkerError): RpcError {
  const reason = failureReason(reasonOfNumber(frame.reason) ?? "WORKER_REPORTED_ERROR", frame.message);
  return new RpcError(reason, frame.message === "" ? {} : { message: frame.message });
}
