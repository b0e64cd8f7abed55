import type { Logger } from "../../base/logger.js";
import type { Connection } from "../connection.js";
import type { Principal } from "../principal.js";
import type { TraceContext } from "../traceContext.js";

/** What a handler is told about its call. Lives as long as the call. */
export interface CallContext {
  /** Full name of the method: `/<package>.<Service>/<Method>`. */
  readonly method: string;
  /** Names this call in the log. Not the `request_id` of a mutating request. */
  readonly requestId: string;
  /** Who calls, as the listener derived it. */
  readonly principal: Principal;
  /** What the call came in on. */
  readonly connection: Connection;
  /** Aborts when the client has gone or the deadline has passed, never after the handler has finished; reason: RpcError. */
  readonly signal: AbortSignal;
  /** Aborts when the listener starts to drain: long calls should end soon, with DRAINING where work is left. */
  readonly draining: AbortSignal;
  /** When the call must have ended, milliseconds since the Unix epoch; undefined for a stream without a deadline. */
  readonly deadlineMs: number | undefined;
  /** Logs with the method, the request id and the principal. */
  readonly log: Logger;
  /** Position of this call in its trace, or its caller's where calls are not traced; undefined where it belongs to none. */
  readonly trace: TraceContext | undefined;
  /**
   * Puts the call into the trace that its request names, else into its caller's, else begins one. To be called before anything is done
   * below the call. @param traceparent of the request; empty or broken for none. @returns what {@link trace} says from here on
   */
  readonly joinTrace: (traceparent: string) => TraceContext;
  /** First value of a metadata entry; never one whose name ends in `-bin`. */
  metadata(name: string): string | undefined;
}
