import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";

import type { SpanRecord } from "./spanRecord.js";
import { CountedExporter } from "./countedExporter.js";
import { spanExportTo } from "./spanExport.js";

type Code = Parameters<Parameters<SpanExporter["export"]>[1]>[0]["code"];
const [SUCCESS, FAILED] = [0, 1] as unknown as [Code, Code];

const AT = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };
const SPAN: SpanRecord = {
  name: "talaria.turn",
  kind: "consumer",
  at: AT,
  parentSpanId: "00f067aa0ba902b7",
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_001_500,
  attributes: { "talaria.depth": 2, "gen_ai.agent.name": "x".repeat(1_000), list: ["a", "b"] },
  error: "WORKER_LOST",
};
const RESOURCE = { resource: { "service.name": "talaria-gateway" }, version: "1.2.3" };

/** An exporter that has its own idea of how things go. */
function exporterOf(exported: SpanExporter["export"]): SpanExporter {
  return { export: exported, shutdown: () => Promise.resolve() };
}

test("the SDK's exporter gets each span whole, with the ids that it has had all along", async () => {
  const memory = new InMemorySpanExporter();
  const seen: ReadableSpan[] = [];
  const keeping = exporterOf((spans, done) => {
    seen.push(...spans);
    memory.export(spans, done);
  });
  const spans = spanExportTo(new CountedExporter(keeping, () => undefined), RESOURCE);
  spans.take(SPAN);
  const { error: _, ...rest } = SPAN;
  spans.take({ ...rest, parentSpanId: undefined, at: { ...AT, spanId: "1111111111111111" } });
  await spans.close();
  const [child, root] = seen;
  expect(child?.spanContext()).toMatchObject({ traceId: AT.traceId, spanId: AT.spanId, traceFlags: 1 });
  expect(child?.parentSpanContext?.spanId).toBe(SPAN.parentSpanId);
  expect(child?.startTime).toEqual([1_700_000_000, 250_000]);
  expect(child?.endTime).toEqual([1_700_000_001, 500_000_000]);
  expect(child).toMatchObject({ name: "talaria.turn", kind: 4, status: { code: 2, message: "WORKER_LOST" } });
  expect(child?.attributes).toEqual({ "talaria.depth": 2, "gen_ai.agent.name": "x".repeat(512), list: ["a", "b"] });
  expect(child?.resource.attributes).toMatchObject(RESOURCE.resource);
  expect(child?.instrumentationScope).toMatchObject({ name: "talaria", version: "1.2.3" });
  expect(root?.spanContext()).toMatchObject({ traceId: AT.traceId, spanId: "1111111111111111" });
  expect(root?.parentSpanContext).toBeUndefined();
  expect(root?.status.code).toBe(0);
  expect(spans.counts()).toEqual({ exported: 2, failed: 0, dropped: 0 });
});

test("spans beyond the bound are dropped and counted while the collector takes nothing", async () => {
  const waiting: (() => void)[] = [];
  const stuck = exporterOf((_spans, done) => {
    waiting.push(() => {
      done({ code: SUCCESS });
    });
  });
  const spans = spanExportTo(new CountedExporter(stuck, () => undefined), RESOURCE);
  for (let count = 0; count < 5_000; count += 1) spans.take(SPAN);
  expect(spans.counts()).toEqual({ exported: 0, failed: 0, dropped: 5_000 - 2_048 });
  const closed = spans.close();
  while (waiting.length > 0 || spans.counts().exported < 2_048) {
    waiting.shift()?.();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await closed;
  expect(spans.counts()).toEqual({ exported: 2_048, failed: 0, dropped: 5_000 - 2_048 });
});

test("a collector that refuses is told of, and the end does not wait for it", async () => {
  const failures: (Error | undefined)[] = [];
  const refusing = exporterOf((_spans, done) => {
    done({ code: FAILED, error: new Error("no") });
  });
  const spans = spanExportTo(new CountedExporter(refusing, (error) => failures.push(error)), RESOURCE);
  for (let count = 0; count < 600; count += 1) spans.take(SPAN);
  await spans.close();
  expect(failures.map((error) => error?.message)).toContain("no");
  const { exported, failed, dropped } = spans.counts();
  expect(exported).toBe(0);
  expect(failed).toBeGreaterThanOrEqual(512);
  expect(failed + dropped).toBe(600);
});
