import type { TraceContext } from "../traceContext.js";
import type { SpanRecord } from "./spanRecord.js";

/**
 * Where spans go. A span's position is taken before its work, to be passed on, and the span is told after it, as plain data: what is
 * told survives no process, but a position can be named again by a later one.
 */
export interface Tracer {
  /** Whether anything is recorded. */
  readonly enabled: boolean;
  /** Position of a span below another one; of the first span of a trace where there is none. */
  below(parent: TraceContext | undefined): TraceContext;
  /**
   * Position of the span that has this name below `parent`'s trace: the same for everybody who asks, also after a restart, so that what
   * belongs below it finds it without its position having been kept.
   */
  named(parent: TraceContext, name: string): TraceContext;
  /** Takes a span that is over. Never throws and never waits. */
  record(span: SpanRecord): void;
}
