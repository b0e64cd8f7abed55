import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Attributes } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  TracerProvider,
  type IdGenerator,
  type SpanExporter,
} from "@opentelemetry/sdk-trace";

import type { SpanRecord } from "./spanRecord.js";
import { CountedExporter } from "./countedExporter.js";
import type { SpanCounts } from "./spanCounts.js";

/** What {@link openSpanExport} needs. */
export interface SpanExportOptions {
  /** URL of a collector's OTLP endpoint for traces over HTTP. */
  readonly endpoint: string;
  /** What the spans are of. Source: OpenTelemetry's conventions for resources. */
  readonly resource: Readonly<Record<string, string>>;
  /** Version of the program, for the spans' scope. */
  readonly version: string;
  /** Time for one request to the collector with its repetitions, milliseconds; default {@link REQUEST_MS}. */
  readonly requestMs?: number;
  /** Told of each batch that the collector did not take. */
  readonly onFailure: (error: Error | undefined) => void;
}

/** The way to a collector. */
export interface SpanExport {
  /** Takes a span that is over. Never throws and never waits. */
  readonly take: (span: SpanRecord) => void;
  readonly counts: () => SpanCounts;
  /** Sends what waits, or lets go of it where the collector takes nothing, and ends. Never rejects. */
  readonly close: () => Promise<void>;
}

/** Spans that wait at most; more are dropped. */
const QUEUED_SPANS = 2_048;
/** Spans of one request to the collector. */
const BATCH_SPANS = 512;
/** Longest wait before a batch goes, milliseconds. */
const BATCH_DELAY_MS = 2_000;
/** Time for one request with its repetitions, milliseconds; a process that ends lives as long where the collector is down. */
const REQUEST_MS = 3_000;
/** Longest text of an attribute, code units. */
const ATTRIBUTE_LENGTH = 512;

const KINDS: Readonly<Record<SpanRecord["kind"], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/**
 * Opens a way to a collector through the OpenTelemetry SDK: its queue, its batches and its exporter. The SDK is handed each span whole,
 * once it is over, so nothing of it is alive while work is under way.
 */
export function openSpanExport({
  endpoint,
  resource,
  version,
  requestMs = REQUEST_MS,
  onFailure,
}: SpanExportOptions): SpanExport {
  const exporter = new CountedExporter(new OTLPTraceExporter({ url: endpoint, timeoutMillis: requestMs }), onFailure);
  return spanExportTo(exporter, { resource, version });
}

/** The same with an exporter of one's own. */
export function spanExportTo(
  exporter: CountedExporter,
  { resource, version }: Pick<SpanExportOptions, "resource" | "version">,
): SpanExport {
  const ids = new GivenIds();
  const processor = new BatchSpanProcessor({
    exporter: exporter satisfies SpanExporter,
    maxQueueSize: QUEUED_SPANS,
    maxExportBatchSize: BATCH_SPANS,
    scheduledDelayMillis: BATCH_DELAY_MS,
    exportTimeoutMillis: 2 * REQUEST_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes(resource),
    // Whether a trace is recorded is decided where it begins.
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanLimits: { attributeValueLengthLimit: ATTRIBUTE_LENGTH },
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer("talaria", version);
  return {
    take(span) {
      if (!exporter.admit(QUEUED_SPANS)) return;
      const { at, parentSpanId } = span;
      ids.give(at.traceId, at.spanId);
      const parent = {
        traceId: at.traceId,
        spanId: parentSpanId ?? "",
        traceFlags: TraceFlags.SAMPLED,
        isRemote: true,
      };
      const above = parentSpanId === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const { name, kind, startMs } = span;
      const options = { kind: KINDS[kind], startTime: startMs, attributes: { ...span.attributes } as Attributes };
      const made = tracer.startSpan(name, options, above);
      if (span.error !== undefined) made.setStatus({ code: SpanStatusCode.ERROR, message: span.error });
      made.end(span.endMs);
    },
    counts: () => exporter.counts,
    async close() {
      // What a collector that is down has not taken it does not take in the last moment either.
      if (!exporter.failing) await provider.shutdown().catch(() => undefined);
      exporter.abandon();
    },
  };
}

/** Gives the SDK the ids that a span's position has had all along. */
class GivenIds implements IdGenerator {
  #traceId = "";
  #spanId = "";

  give(traceId: string, spanId: string): void {
    this.#traceId = traceId;
    this.#spanId = spanId;
  }

  generateTraceId(): string {
    return this.#traceId;
  }

  generateSpanId(): string {
    return this.#spanId;
  }
}
