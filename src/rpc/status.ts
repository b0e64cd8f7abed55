import { Metadata, status, type ServiceError } from "@grpc/grpc-js";
import { isReason, reasonEntry, type Reason } from "./reasons.js";
import { RpcError, type RpcErrorOptions } from "./rpcError.js";
import { cutText, decodeStatusDetails, encodeStatusDetails, ERROR_DOMAIN, type WireError } from "./statusDetails.js";

const DETAILS_KEY = "grpc-status-details-bin";
const MAX_TEXT_BYTES = 1024;

/** A status as grpc-js takes it. */
export interface CallStatus {
  /** The gRPC status code, never OK. */
  readonly code: status;
  /** What happened, for people; at most 1 KiB of UTF-8. */
  readonly details: string;
  /** Holds the encoded `google.rpc.Status`. */
  readonly metadata: Metadata;
}

/** The gRPC code that belongs to a reason. */
export function codeOfReason(reason: Reason): status {
  return status[reasonEntry(reason).code];
}

/** Makes the status that a call ends with. The cause and the stack of the error stay behind. */
export function toStatus(error: RpcError): CallStatus {
  const code = codeOfReason(error.reason);
  const message = cutText(error.message, MAX_TEXT_BYTES);
  const metadata = new Metadata();
  metadata.set(
    DETAILS_KEY,
    encodeStatusDetails({
      code,
      message,
      reason: error.wireReason ?? error.reason,
      domain: ERROR_DOMAIN,
      hint: error.hint,
      details: error.details,
    }),
  );
  return { code, details: message, metadata };
}

/** Turns what grpc-js reports to a client into an RpcError; a reason that this registry does not know is kept as text. */
export function fromServiceError(error: ServiceError): RpcError {
  const wire = wireErrorOf(error);
  const base: RpcErrorOptions = { message: wire?.message ?? error.details, cause: error, ...wire?.details };
  const options = wire?.hint === undefined ? base : { ...base, hint: wire.hint };
  const reason = wire?.reason;
  if (reason === undefined || reason === "") return new RpcError(reasonOfCode(error), options);
  if (wire?.domain === ERROR_DOMAIN && isReason(reason)) return new RpcError(reason, options);
  return new RpcError(reasonOfCode(error), { ...options, wireReason: reason });
}

/** Whether a caught value is an error that grpc-js made for a call. */
export function isServiceError(caught: unknown): caught is ServiceError {
  return caught instanceof Error && "code" in caught && typeof caught.code === "number" && "details" in caught;
}

function wireErrorOf(error: ServiceError): WireError | undefined {
  // Errors that grpc-js makes without a response have no metadata, against their type.
  const [bytes] = (error.metadata as Metadata | undefined)?.get(DETAILS_KEY) ?? [];
  if (!Buffer.isBuffer(bytes)) return undefined;
  try {
    return decodeStatusDetails(bytes);
  } catch {
    return undefined;
  }
}

const byCode: Readonly<Record<number, Reason>> = {
  [status.CANCELLED]: "CANCELLED",
  [status.UNKNOWN]: "UNKNOWN_ERROR",
  [status.INVALID_ARGUMENT]: "INVALID_FIELD",
  [status.DEADLINE_EXCEEDED]: "DEADLINE_EXCEEDED",
  [status.NOT_FOUND]: "NOT_FOUND",
  [status.ALREADY_EXISTS]: "ALREADY_EXISTS",
  [status.PERMISSION_DENIED]: "PERMISSION_DENIED",
  [status.RESOURCE_EXHAUSTED]: "OVERLOADED",
  [status.FAILED_PRECONDITION]: "FAILED_PRECONDITION",
  [status.ABORTED]: "CONFLICT",
  [status.OUT_OF_RANGE]: "INVALID_FIELD",
  [status.UNIMPLEMENTED]: "UNIMPLEMENTED",
  [status.INTERNAL]: "INTERNAL",
  [status.UNAVAILABLE]: "UNAVAILABLE",
  [status.DATA_LOSS]: "DATA_LOST",
  [status.UNAUTHENTICATED]: "UNAUTHENTICATED",
};

function reasonOfCode(error: ServiceError): Reason {
  // grpc-js refuses messages over the transport cap by itself, with this code and no details.
  if (error.code === status.RESOURCE_EXHAUSTED && error.details.includes("larger than")) return "MESSAGE_TOO_LARGE";
  return byCode[error.code] ?? "UNKNOWN_ERROR";
}
