import { BadRequest, ErrorInfo, RetryInfo } from "../gen/google/rpc/error_details.js";
import type { Any } from "../gen/google/protobuf/any.js";
import { Status } from "../gen/google/rpc/status.js";
import type { RpcErrorDetails } from "./rpcError.js";

/** Domain of our reasons in `google.rpc.ErrorInfo`. */
export const ERROR_DOMAIN = "talaria";

/** Largest encoded `google.rpc.Status`, bytes. Trailers beyond 48 kB hang a call, and other stacks stop at 8 KiB. */
export const MAX_STATUS_DETAILS_BYTES = 4096;

const MAX_MESSAGE_BYTES = 1024;
const MAX_VALUE_BYTES = 512;
const TYPE_PREFIX = "type.googleapis.com/";

/** The parts of an error as they travel in `google.rpc.Status`. */
export interface WireError {
  /** Number of the gRPC status code. */
  readonly code: number;
  /** What happened, for people. */
  readonly message: string;
  /** Reason as text; undefined where the sender gave no ErrorInfo. */
  readonly reason: string | undefined;
  /** Domain of the reason; undefined where the sender gave no ErrorInfo. */
  readonly domain: string | undefined;
  /** What to do about it; undefined where the sender gave none. */
  readonly hint: string | undefined;
  /** Machine-readable particulars. */
  readonly details: RpcErrorDetails;
}

/**
 * Encodes an error as `google.rpc.Status` in at most {@link MAX_STATUS_DETAILS_BYTES}. What does not fit is left out, the
 * last field violations first, then metadata; ErrorInfo's reason, domain and hint always stay.
 */
export function encodeStatusDetails(error: WireError): Buffer {
  const violations = [...(error.details.fieldViolations ?? [])];
  const metadata = Object.entries(error.details.metadata ?? {});
  for (;;) {
    const bytes = encodeOnce(error, violations, metadata);
    if (bytes.length <= MAX_STATUS_DETAILS_BYTES) return bytes;
    if (violations.length > 0) violations.length = Math.floor(violations.length / 2);
    else if (metadata.length > 0) metadata.pop();
    else return bytes;
  }
}

function encodeOnce(
  error: WireError,
  violations: readonly { readonly field: string; readonly description: string }[],
  metadata: readonly (readonly [string, string])[],
): Buffer {
  const info: ErrorInfo = {
    reason: error.reason ?? "",
    domain: error.domain ?? ERROR_DOMAIN,
    metadata: Object.fromEntries([
      ...metadata.map(([name, value]) => [name, cutText(value, MAX_VALUE_BYTES)]),
      ...(error.hint === undefined ? [] : [["hint", cutText(error.hint, MAX_VALUE_BYTES)]]),
    ]) as Record<string, string>,
  };
  const details: Any[] = [pack("google.rpc.ErrorInfo", ErrorInfo.encode(info).finish())];
  const retryAfterMs = error.details.retryAfterMs;
  if (retryAfterMs !== undefined) {
    const whole = Math.max(0, Math.ceil(retryAfterMs));
    const retryDelay = { seconds: BigInt(Math.floor(whole / 1000)), nanos: (whole % 1000) * 1_000_000 };
    details.push(pack("google.rpc.RetryInfo", RetryInfo.encode({ retryDelay }).finish()));
  }
  if (violations.length > 0) {
    const fieldViolations = violations.map(({ field, description }) => ({
      field: cutText(field, MAX_VALUE_BYTES),
      description: cutText(description, MAX_VALUE_BYTES),
      reason: "",
      localizedMessage: undefined,
    }));
    details.push(pack("google.rpc.BadRequest", BadRequest.encode({ fieldViolations }).finish()));
  }
  const message = cutText(error.message, MAX_MESSAGE_BYTES);
  return Buffer.from(Status.encode({ code: error.code, message, details }).finish());
}

/** Decodes a `google.rpc.Status`. Unknown detail types are passed over. @throws Error on bytes that are none. */
export function decodeStatusDetails(bytes: Uint8Array): WireError {
  const status = Status.decode(bytes);
  let info: ErrorInfo | undefined;
  let retryAfterMs: number | undefined;
  let violations: { field: string; description: string }[] | undefined;
  for (const { typeUrl, value } of status.details) {
    switch (typeUrl.slice(typeUrl.lastIndexOf("/") + 1)) {
      case "google.rpc.ErrorInfo":
        info ??= ErrorInfo.decode(value);
        break;
      case "google.rpc.RetryInfo": {
        const delay = RetryInfo.decode(value).retryDelay;
        if (delay !== undefined) retryAfterMs = Number(delay.seconds) * 1000 + Math.ceil(delay.nanos / 1_000_000);
        break;
      }
      case "google.rpc.BadRequest":
        violations = BadRequest.decode(value).fieldViolations.map(({ field, description }) => ({ field, description }));
        break;
    }
  }
  const { hint, ...metadata } = info?.metadata ?? {};
  return {
    code: status.code,
    message: status.message,
    reason: info?.reason,
    domain: info?.domain,
    hint,
    details: {
      ...(violations === undefined ? {} : { fieldViolations: violations }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    },
  };
}

/** A text in at most `bytes` of UTF-8, cut between characters; unpaired surrogates become U+FFFD. */
export function cutText(text: string, bytes: number): string {
  const encoded = Buffer.from(text, "utf8");
  if (encoded.length <= bytes) return encoded.toString("utf8");
  let end = bytes;
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return encoded.toString("utf8", 0, end);
}

function pack(type: string, bytes: Uint8Array): Any {
  return { typeUrl: TYPE_PREFIX + type, value: Buffer.from(bytes) };
}
