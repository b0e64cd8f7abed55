import type { Random } from "../base/random.js";

/** One position in a W3C trace. Source: W3C Trace Context, version 00. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly sampled: boolean;
}

/** Name of the metadata entry. */
export const TRACEPARENT = "traceparent";

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a `traceparent`; undefined where it is none. Later versions may carry more after the four known parts. */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [, version, traceId, spanId, flags, more] = FORM.exec(text) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Writes a `traceparent` of version 00. */
export function formatTraceparent(trace: TraceContext): string {
  return `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? "01" : "00"}`;
}

/** Starts a trace. */
export function startTrace(random: Random): TraceContext {
  return { traceId: nonZeroHex(random, 16), spanId: nonZeroHex(random, 8), sampled: true };
}

/** A span below another one, in the same trace; a new trace where there is no parent. */
export function childTrace(parent: TraceContext | undefined, random: Random): TraceContext {
  if (parent === undefined) return startTrace(random);
  return { ...parent, spanId: nonZeroHex(random, 8) };
}

function nonZeroHex(random: Random, length: number): string {
  const bytes = random.bytes(length);
  // The specification forbids all zeroes.
  if (bytes.every((byte) => byte === 0)) bytes[length - 1] = 1;
  return bytes.toString("hex");
}
