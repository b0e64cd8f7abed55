import { systemRandom } from "../base/random.js";
import { StorageError } from "../base/storageError.js";
import { reasonEntry, type Reason, type ReasonParameter } from "./reasons.js";

/** One field that a request got wrong. */
export interface FieldViolation {
  /** Path of the field in proto spelling, for example `message.parts[0].text`. */
  readonly field: string;
  /** What is wrong with it; never the value itself. */
  readonly description: string;
}

/** What an error carries besides its reason and texts. */
export interface RpcErrorDetails {
  /** Fields that the request got wrong; sent as `google.rpc.BadRequest`. */
  readonly fieldViolations?: readonly FieldViolation[];
  /** Wait before a retry, milliseconds, 0 or more; sent as `google.rpc.RetryInfo`. */
  readonly retryAfterMs?: number;
  /** Facts for programs; sent as `google.rpc.ErrorInfo.metadata`. Must hold no secret. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What may be given to the constructor of {@link RpcError}; the texts default to the registry's. */
export interface RpcErrorOptions extends RpcErrorDetails {
  /** Replaces the registry's message. */
  readonly message?: string;
  /** Replaces the registry's hint. */
  readonly hint?: string;
  /** What led to the error: for the log only, never sent. */
  readonly cause?: unknown;
  /** Reason that a foreign server gave and that this registry does not know. */
  readonly wireReason?: string;
}

/** The one error type of the suite: everything a handler, client or gateway refuses or fails with. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** Why; the gRPC code follows from it. */
  readonly reason: Reason;
  /** What to do about it, for people. */
  readonly hint: string;
  /** Machine-readable particulars. */
  readonly details: RpcErrorDetails;
  /** Set where the reason came from a foreign server and this registry does not know it. */
  readonly wireReason: string | undefined;

  constructor(reason: Reason, options: RpcErrorOptions = {}) {
    const { message, hint, cause, wireReason, ...details } = options;
    const entry = reasonEntry(reason);
    super(message ?? fillIn(entry.message, details.metadata ?? {}), cause === undefined ? {} : { cause });
    this.reason = reason;
    this.hint = hint ?? entry.hint;
    this.details = details;
    this.wireReason = wireReason;
  }

  /** Whether the same request may succeed later without anybody changing anything. */
  get retryable(): boolean {
    return reasonEntry(this.reason).retryable;
  }

  /**
   * Turns anything that was caught into an RpcError; the only catch-all of the suite. An RpcError passes, a storage failure,
   * an abort and a timeout get their reasons, and everything else becomes INTERNAL with an incident id: its text and stack stay
   * in `cause`, for the log.
   */
  static from(caught: unknown): RpcError {
    if (caught instanceof RpcError) return caught;
    if (caught instanceof StorageError) {
      return new RpcError(caught.kind === "full" ? "STORAGE_FULL" : "STORAGE_UNAVAILABLE", { cause: caught });
    }
    if (caught instanceof Error && caught.name === "AbortError") {
      return caught.cause instanceof RpcError ? caught.cause : new RpcError("CANCELLED", { cause: caught });
    }
    if (caught instanceof Error && caught.name === "TimeoutError") {
      return new RpcError("DEADLINE_EXCEEDED", { cause: caught });
    }
    const incident = systemRandom.bytes(8).toString("hex");
    return new RpcError("INTERNAL", {
      message: `Something went wrong inside the gateway (incident ${incident}).`,
      metadata: { incident },
      cause: caught,
    });
  }

  /** Whether a caught value is an RpcError with this reason. */
  static is(caught: unknown, reason: Reason): caught is RpcError {
    return caught instanceof RpcError && caught.reason === reason;
  }
}

/** Values for the placeholders of a reason's message, and further facts for programs. */
export type ReasonParameters<R extends Reason> = Readonly<
  Record<ReasonParameter<R>, string | number | bigint> & Record<string, string | number | bigint | boolean>
>;

/**
 * Makes the error for a reason: `reasonError("UNKNOWN_AGENT", { agent: "x" })`. The parameters fill the placeholders of the
 * message and travel as `ErrorInfo.metadata`; those without a placeholder are facts for programs.
 */
export function reasonError<R extends Reason>(
  reason: R,
  ...[parameters, options]: [ReasonParameter<R>] extends [never]
    ? [parameters?: ReasonParameters<R>, options?: RpcErrorOptions]
    : [parameters: ReasonParameters<R>, options?: RpcErrorOptions]
): RpcError {
  const metadata: Record<string, string> = { ...options?.metadata };
  for (const [name, value] of Object.entries(parameters ?? {})) metadata[name] = String(value);
  return new RpcError(reason, Object.keys(metadata).length === 0 ? options : { ...options, metadata });
}

/** The error for one field that a request got wrong. */
export function invalidField(field: string, description: string): RpcError {
  return new RpcError("INVALID_FIELD", {
    message: `${field}: ${description}`,
    fieldViolations: [{ field, description }],
  });
}

function fillIn(message: string, values: Readonly<Record<string, string>>): string {
  return message.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
