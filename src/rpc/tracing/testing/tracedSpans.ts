import { seededRandom } from "../../../base/testing/seededRandom.js";
import { recordingTracer } from "../recordingTracer.js";
import type { SpanRecord } from "../spanRecord.js";
import type { Tracer } from "../tracer.js";

/** A tracer that records everything, with what it was told. */
export function tracedSpans(seed = 1): { readonly tracer: Tracer; readonly spans: SpanRecord[] } {
  const spans: SpanRecord[] = [];
  const sink = (span: SpanRecord): void => void spans.push(span);
  return { tracer: recordingTracer({ random: seededRandom(seed), sampleRatio: 1, sink }), spans };
}

/** Names from the one that is below nothing that was told, down to this span. */
export function pathOf(spans: readonly SpanRecord[], name: string): string[] {
  const path: string[] = [];
  for (let at = spans.find((span) => span.name === name); at !== undefined;) {
    path.unshift(at.name);
    const { parentSpanId }: SpanRecord = at;
    at = spans.find((span) => span.at.spanId === parentSpanId);
  }
  return path;
}
