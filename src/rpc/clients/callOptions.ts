import { Metadata, type CallOptions as GrpcCallOptions, type ServiceError } from "@grpc/grpc-js";
import { systemClock, type Clock } from "../../base/clock.js";
import { RpcError } from "../rpcError.js";
import { fromServiceError } from "../status.js";
import { formatTraceparent, TRACEPARENT, type TraceContext } from "../traceContext.js";

/** Longest deadline that is sent. Beyond 24.8 days servers compute one in the past. */
export const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/** What every kind of client call may be given. */
export interface ClientCallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Time for the whole call, milliseconds, at most {@link MAX_TIMEOUT_MS}; the default depends on the kind of call. */
  readonly timeoutMs?: number;
  /** Entries to send along, for example `authorization`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Position of this call in its trace. */
  readonly trace?: TraceContext;
  /** Whether to wait for a connection where there is none, up to the deadline; default false: fail at once. */
  readonly waitForReady?: boolean;
  /** Default: the system's. */
  readonly clock?: Clock;
}

/** The metadata of a call. */
export function callMetadata({ metadata, trace, waitForReady = false }: ClientCallOptions): Metadata {
  const result = new Metadata({ waitForReady });
  for (const [name, value] of Object.entries(metadata ?? {})) result.set(name, value);
  if (trace !== undefined) result.set(TRACEPARENT, formatTraceparent(trace));
  return result;
}

/** The grpc-js options of a call; `defaultTimeoutMs` undefined means no deadline. */
export function grpcCallOptions(options: ClientCallOptions, defaultTimeoutMs: number | undefined): GrpcCallOptions {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  if (timeoutMs === undefined) return {};
  return { deadline: (options.clock ?? systemClock).now() + Math.min(timeoutMs, MAX_TIMEOUT_MS) };
}

/** Runs `cancel` when the signal aborts; at once if it has. @returns what takes the request back. */
export function onSignal(signal: AbortSignal | undefined, cancel: (error: RpcError) => void): () => void {
  if (signal === undefined) return () => undefined;
  const run = (): void => {
    cancel(cancellation(signal));
  };
  if (signal.aborted) {
    run();
    return () => undefined;
  }
  signal.addEventListener("abort", run, { once: true });
  return () => {
    signal.removeEventListener("abort", run);
  };
}

/** The error of a call whose signal has aborted: the reason where it is an RpcError, else CANCELLED. */
export function cancellation(signal: AbortSignal): RpcError {
  const reason: unknown = signal.reason;
  if (reason instanceof RpcError) return reason;
  if (reason instanceof Error && reason.name === "TimeoutError") return RpcError.from(reason);
  return new RpcError("CANCELLED", { cause: reason });
}

/** What went wrong with a call: the signal's reason where it has aborted, else what the other side or grpc-js says. */
export function callError(error: ServiceError, signal: AbortSignal | undefined): RpcError {
  return signal?.aborted === true ? cancellation(signal) : fromServiceError(error);
}
