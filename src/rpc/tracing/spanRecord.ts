import type { TraceContext } from "../traceContext.js";

/** What a span may say of its work: short facts, never a body, a secret or a token. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** A piece of work in a trace, told once it is over. */
export interface SpanRecord {
  /** Low in variety, such as a method's full name. */
  readonly name: string;
  /** Its part in what crosses processes. Source: OpenTelemetry trace API, SpanKind. */
  readonly kind: "server" | "client" | "producer" | "consumer" | "internal";
  /** Its own position. */
  readonly at: TraceContext;
  /** Span that it is below: 16 hexadecimal digits; undefined for the first of its trace. */
  readonly parentSpanId: string | undefined;
  /** Milliseconds since the Unix epoch; may have a fraction. */
  readonly startMs: number;
  /** Milliseconds since the Unix epoch; not before `startMs`. */
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Class of the failure, from the reason registry; undefined where the work succeeded. */
  readonly error?: string;
}
