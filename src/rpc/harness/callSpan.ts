import type { Clock } from "../../base/clock.js";
import type { Principal } from "../principal.js";
import { reasonEntry } from "../reasons.js";
import type { RpcError } from "../rpcError.js";
import { parseTraceparent, type TraceContext } from "../traceContext.js";
import type { Tracer } from "../tracing/tracer.js";

/** What a call's span is made of. */
export interface CallSpanParts {
  readonly tracer: Tracer;
  readonly clock: Clock;
  /** Full name of the method: `/<package>.<Service>/<Method>`. */
  readonly method: string;
  readonly principal: Principal;
  /** Reads the caller's `traceparent` header. */
  readonly header: () => string | undefined;
  /** When the call's headers came, by the clock's `monotonic`. */
  readonly startedAt: number;
}

/**
 * The place of a served call in a trace. A call that brings no trace has none until its handler asks for one, so that a look at what
 * happens, or a stream that waits, makes no trace of its own.
 */
export class CallSpan {
  readonly #parts: CallSpanParts;
  #parent: TraceContext | undefined;
  #at: TraceContext | undefined;
  #read = false;

  constructor(parts: CallSpanParts) {
    this.#parts = parts;
  }

  /** Position of the call; undefined where it belongs to no trace. */
  get trace(): TraceContext | undefined {
    if (!this.#read) {
      this.#read = true;
      const parent = parseTraceparent(this.#parts.header() ?? "");
      if (parent !== undefined) this.#place(parent);
    }
    return this.#at;
  }

  /** Puts the call below what its request names, else its caller's header, else at the beginning of a trace. */
  join(traceparent: string): TraceContext {
    const given = parseTraceparent(traceparent);
    if (given === undefined) return this.trace ?? this.#place(undefined);
    this.#read = true;
    return this.#place(given);
  }

  /** Tells the span, with the error that ended the call, if one did. */
  end(error: RpcError | undefined): void {
    const { tracer, clock, method, principal, startedAt } = this.#parts;
    if (!tracer.enabled) return;
    const at = this.trace;
    if (at?.sampled !== true) return;
    const endMs = clock.now();
    tracer.record({
      name: method.slice(1),
      kind: "server",
      at,
      parentSpanId: this.#parent?.spanId,
      startMs: endMs - Math.max(0, clock.monotonic() - startedAt),
      endMs,
      attributes: { ...rpcAttributes(method, error), "talaria.caller": principal.kind },
      ...(error === undefined ? {} : { error: error.reason }),
    });
  }

  #place(parent: TraceContext | undefined): TraceContext {
    this.#parent = parent;
    this.#at = this.#parts.tracer.below(parent);
    return this.#at;
  }
}

/** What either side says of a call, under OpenTelemetry's names for gRPC. @param method full name, with its leading slash */
export function rpcAttributes(method: string, error: RpcError | undefined): Record<string, string> {
  return {
    "rpc.system.name": "grpc",
    "rpc.method": method.slice(1),
    "rpc.response.status_code": error === undefined ? "OK" : reasonEntry(error.reason).code,
    ...(error === undefined ? {} : { "error.type": error.reason }),
  };
}
