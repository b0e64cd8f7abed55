import type { Random } from "../../base/random.js";
import { childTrace, startTrace, type TraceContext } from "../traceContext.js";
import { spanIdOfName } from "./spanNames.js";
import type { SpanRecord } from "./spanRecord.js";
import type { Tracer } from "./tracer.js";

/** What {@link recordingTracer} needs. */
export interface RecordingTracerOptions {
  readonly random: Random;
  /** Share of the traces that are recorded though no caller records them, 0 to 1. */
  readonly sampleRatio: number;
  /** Takes what is recorded. Must neither throw nor wait. */
  readonly sink: (span: SpanRecord) => void;
}

/** Of the trace id, these digits decide: the last seven bytes are random by W3C Trace Context level 2. */
const DECIDING_DIGITS = 8;

/**
 * Records what a caller records, and a share of everything else. The share is decided by the trace's id alone, so that gateways with the
 * same share record the same traces, and a gateway that records less breaks no trace of one that records more.
 */
export function recordingTracer({ random, sampleRatio, sink }: RecordingTracerOptions): Tracer {
  const decided = (trace: TraceContext, parent?: TraceContext): TraceContext => ({
    ...trace,
    sampled: parent?.sampled === true || isInShare(trace.traceId, sampleRatio),
  });
  return {
    enabled: true,
    below: (parent) => decided(parent === undefined ? startTrace(random) : childTrace(parent, random), parent),
    named: (parent, name) => decided({ ...parent, spanId: spanIdOfName(name) }, parent),
    record: (span) => {
      if (span.at.sampled) sink(span);
    },
  };
}

function isInShare(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-DECIDING_DIGITS), 16) < ratio * 2 ** (DECIDING_DIGITS * 4);
}
