import { Counter, type Registry } from "prom-client";

import type { SpanCounts } from "../../rpc/tracing/spanCounts.js";

/**
 * Registers what becomes of the spans of traces, so that spans that are lost are seen.
 * @param counts undefined where nothing is traced
 * @returns a function that reads the values; call it before each scrape.
 */
export function traceMetrics(registry: Registry, counts: (() => SpanCounts) | undefined): () => void {
  const spans = new Counter({
    name: "talaria_trace_spans_total",
    help: "Spans since the start, by what became of them at the collector.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return () => {
    if (counts === undefined) return;
    spans.reset();
    for (const [outcome, count] of Object.entries(counts())) spans.inc({ outcome }, Number(count));
  };
}
