import type { WorkerError } from "../../gen/talaria/owner/v1/owner_service.js";
import { reasonOfNumber } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";

/** A connection that broke or was given up says nothing about anybody's will: it must not read as a cancellation. */
export function lossError(caught: unknown): RpcError {
  const error = RpcError.from(caught);
  return error.reason === "CANCELLED" ? new RpcError("WORKER_LOST", { cause: error }) : error;
}

/** What a worker says of its own failure. */
export function workerError(frame: WorkerError): RpcError {
  const reason = reasonOfNumber(frame.reason) ?? "WORKER_REPORTED_ERROR";
  return new RpcError(reason, frame.message === "" ? {} : { message: frame.message });
}
