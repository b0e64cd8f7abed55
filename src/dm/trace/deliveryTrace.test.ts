import { expect, test } from "vitest";

import { parseTraceparent } from "../../rpc/traceContext.js";
import { tracedSpans } from "../../rpc/tracing/testing/tracedSpans.js";
import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";
import { deliveryPlace, DeliveryTrace } from "./deliveryTrace.js";

const STORED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function delivery(more: Partial<StoredDelivery> = {}): StoredDelivery {
  const known: Partial<StoredDelivery> = {
    deliveryId: "del_1",
    attemptEpoch: 1,
    attempts: 3,
    state: "replied",
    route: "peer_outbound",
    recipientGateway: "south",
    recipientAgent: "bob",
    createdAt: 1_000,
    endedAt: 9_000,
    updatedAt: 9_000,
    depth: 2,
    body: "a body",
    failure: undefined,
    traceparent: STORED,
  };
  return { ...known, ...more } as StoredDelivery;
}

test("a message is told once, at its end, below what sent it", () => {
  const { tracer, spans } = tracedSpans();
  const trace = new DeliveryTrace(tracer);
  trace.changed(delivery({ state: "queued", endedAt: undefined }));
  trace.changed(delivery({ state: "claimed", endedAt: undefined }));
  expect(spans).toEqual([]);
  trace.changed(delivery());
  trace.changed(delivery());
  trace.changed(delivery({ updatedAt: 10_000 }));
  expect(spans).toMatchObject([
    {
      name: "send south/bob",
      kind: "producer",
      parentSpanId: parseTraceparent(STORED)?.spanId,
      startMs: 1_000,
      endMs: 9_000,
      attributes: {
        "messaging.message.id": "del_1",
        "talaria.delivery.state": "replied",
        "talaria.delivery.attempts": 3,
      },
    },
  ]);
  expect(spans[0]?.at).toEqual(deliveryPlace(tracer, delivery()));
  expect(JSON.stringify(spans)).not.toContain("a body");
});

test("at its receiver it is received, and one that failed says why", () => {
  const { tracer, spans } = tracedSpans();
  const trace = new DeliveryTrace(tracer);
  trace.changed(delivery({ route: "peer_inbound", recipientGateway: "" }));
  trace.changed(delivery({ deliveryId: "del_2", state: "expired" }));
  const failure = { reason: "PROVIDER_QUOTA", message: "", hint: "", retryable: false };
  trace.changed(delivery({ deliveryId: "del_3", state: "failed", failure }));
  expect(spans.map(({ name, kind, error }) => [name, kind, error])).toEqual([
    ["receive bob", "consumer", undefined],
    ["send south/bob", "producer", "EXPIRED"],
    ["send south/bob", "producer", "PROVIDER_QUOTA"],
  ]);
});

test("each attempt epoch is a span of its own, and an unknown end that is resolved is told again", () => {
  const { tracer, spans } = tracedSpans();
  const trace = new DeliveryTrace(tracer);
  trace.changed(delivery({ state: "failed" }));
  trace.changed(delivery({ attemptEpoch: 2, state: "unknown" }));
  trace.changed(delivery({ attemptEpoch: 2, endedAt: 9_500, updatedAt: 9_500 }));
  expect(spans.map(({ attributes }) => attributes["talaria.delivery.state"])).toEqual(["failed", "unknown", "replied"]);
  const [first, second, third] = spans.map(({ at }) => at.spanId);
  expect(first).not.toBe(second);
  expect(third).toBe(second);
});

test("a message without a trace is not told", () => {
  const { tracer, spans } = tracedSpans();
  new DeliveryTrace(tracer).changed(delivery({ traceparent: "" }));
  expect(spans).toEqual([]);
});
