import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { show, waitFor } from "./waitFor.js";

/** A span as it came over OTLP. */
export interface CollectedSpan {
  /** The resource's `talaria.gateway`; of what is no gateway, its `service.name`. */
  readonly gateway: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of a trace. */
  readonly parentSpanId: string;
  /** OTLP's number: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  /** Milliseconds since the Unix epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Set where the span is of something that failed. */
  readonly error?: string;
}

/** A collector of traces in this process: OTLP over HTTP on a loopback port, kept in memory. */
export interface Collector {
  /** For `tracing.endpoint`. */
  readonly endpoint: string;
  /** What has come, in the order that it came. */
  readonly spans: readonly CollectedSpan[];
  /** The bodies of the requests, as they came. */
  readonly bodies: readonly string[];
  /** Waits until what has come satisfies a test. @throws Error with the names of what has come. */
  until(description: string, holds: (spans: readonly CollectedSpan[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}
interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}
interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code: number; readonly message?: string };
}
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** OTLP's status code of an error. */
const ERROR = 2;

/** Starts a collector. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("utf8");
      bodies.push(body);
      spans.push(...spansOf(JSON.parse(body) as OtlpRequest));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${String(port)}/v1/traces`,
    spans,
    bodies,
    until: (description, holds) =>
      waitFor(
        description,
        () =>
          holds(spans) ? { found: undefined } : { state: show(spans.map(({ gateway, name }) => `${gateway} ${name}`)) },
        30_000,
      ),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function spansOf({ resourceSpans }: OtlpRequest): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const about = attributesOf(resource.attributes);
    const gateway = String(about["talaria.gateway"] ?? about["service.name"]);
    return scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        gateway,
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? "",
        kind: span.kind,
        startMs: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
        endMs: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
        attributes: attributesOf(span.attributes),
        ...(span.status.code === ERROR ? { error: span.status.message ?? "" } : {}),
      })),
    );
  });
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]));
}

function valueOf(value: OtlpValue): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(valueOf);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
