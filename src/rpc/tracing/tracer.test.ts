import { expect, test } from "vitest";

import { seededRandom } from "../../base/testing/seededRandom.js";
import { formatTraceparent, parseTraceparent, type TraceContext } from "../traceContext.js";
import { passingTracer } from "./passingTracer.js";
import { recordingTracer } from "./recordingTracer.js";
import { SPAN_NAMES, spanIdOfName } from "./spanNames.js";
import type { SpanRecord } from "./spanRecord.js";

const PARENT: TraceContext = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };

function tracerOf(sampleRatio: number, seed = 3) {
  const told: SpanRecord[] = [];
  return {
    told,
    tracer: recordingTracer({ random: seededRandom(seed), sampleRatio, sink: (span) => told.push(span) }),
  };
}

function spanAt(at: TraceContext): SpanRecord {
  return { name: "x", kind: "internal", at, parentSpanId: undefined, startMs: 1, endMs: 2, attributes: {} };
}

test("what a caller records is recorded, and of the rest the share that the trace's id falls into, wherever it is asked", () => {
  const [none, some, all] = [tracerOf(0).tracer, tracerOf(0.25).tracer, tracerOf(1).tracer];
  expect(none.below(PARENT).sampled).toBe(true);
  expect(none.below(undefined).sampled).toBe(false);
  expect(all.below({ ...PARENT, sampled: false }).sampled).toBe(true);
  const traces = Array.from({ length: 2_000 }, () => ({ ...all.below(undefined), sampled: false }));
  const chosen = traces.map((trace) => some.below(trace).sampled);
  const elsewhere = tracerOf(0.25, 99).tracer;
  expect(traces.map((trace) => elsewhere.named(trace, "y").sampled)).toEqual(chosen);
  const share = chosen.filter(Boolean).length / traces.length;
  expect(share).toBeGreaterThan(0.2);
  expect(share).toBeLessThan(0.3);
});

test("only what is sampled is told", () => {
  const { told, tracer } = tracerOf(0);
  tracer.record(spanAt(tracer.below(undefined)));
  tracer.record(spanAt(tracer.below(PARENT)));
  expect(told.map(({ at }) => at.traceId)).toEqual([PARENT.traceId]);
});

test("a span's position is its own, in its parent's trace; a named one is the same for everybody", () => {
  const { tracer } = tracerOf(1);
  const [one, other] = [tracer.below(PARENT), tracer.below(PARENT)];
  expect(one.traceId).toBe(PARENT.traceId);
  expect(new Set([PARENT.spanId, one.spanId, other.spanId]).size).toBe(3);
  const name = SPAN_NAMES.delivery("del_1", 2);
  expect(tracer.named(PARENT, name)).toEqual(tracerOf(0, 77).tracer.named(one, name));
  expect(tracer.named(PARENT, name).spanId).not.toBe(tracer.named(PARENT, SPAN_NAMES.delivery("del_1", 1)).spanId);
  expect(parseTraceparent(formatTraceparent(tracer.named(PARENT, name)))).toBeDefined();
});

test("the name of a tool call's span is the one that the contract tells workers", () => {
  // printf 'tool:exe_1:call_1' | sha256sum
  expect(spanIdOfName(SPAN_NAMES.tool("exe_1", "call_1"))).toBe("79ec7fa45f639e4c");
});

test("a gateway that does not trace passes on what came, and says of a trace of its own that nobody has recorded it", () => {
  const tracer = passingTracer(seededRandom(5));
  expect(tracer.enabled).toBe(false);
  expect(tracer.below(PARENT)).toBe(PARENT);
  expect(tracer.named(PARENT, "turn:exe_1")).toBe(PARENT);
  expect(tracer.below(undefined).sampled).toBe(false);
});
