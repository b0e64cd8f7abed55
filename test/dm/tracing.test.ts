import { expect, test } from "vitest";

import type { SpanRecord } from "../../src/rpc/tracing/spanRecord.js";
import { tracedSpans } from "../../src/rpc/tracing/testing/tracedSpans.js";
import { parseTraceparent } from "../../src/rpc/traceContext.js";
import { ended, send, stateName } from "./calls.js";
import { agentEntry, introduce } from "./testGateway.js";
import { useGateways } from "./useGateways.js";

const { use } = useGateways();

const PEER = "talaria.dm.v1.PeerService";

/** Names from the first span of a trace down to this one. */
function pathTo(spans: readonly SpanRecord[], span: SpanRecord): string[] {
  const path: string[] = [];
  for (let at: SpanRecord | undefined = span; at !== undefined;) {
    path.unshift(`${at.name} ${at.kind}`);
    const { parentSpanId }: SpanRecord = at;
    at = spans.find((one) => one.at.spanId === parentSpanId);
  }
  return path;
}

test("each message of a backlog goes on in its own trace through the batches", async () => {
  const { tracer, spans } = tracedSpans();
  const agents = [agentEntry("main", { main: true }), agentEntry("bob")];
  const north = await use({ name: "north", agents, tracer });
  const south = await use({ name: "south", agents, tracer });
  introduce(north, south);
  const ids: string[] = [];
  for (let number = 0; number < 20; number += 1) {
    const { delivery } = await send(north.client, { target: "south/bob", body: `message ${String(number)}` });
    ids.push(delivery.deliveryId);
  }
  await Promise.all([north.start(), south.start()]);
  for (const id of ids) expect(stateName(await ended(north.client, id))).toBe("REPLIED");

  const received = spans.filter(({ name }) => name === "receive bob");
  expect(received).toHaveLength(20);
  for (const span of received) {
    const { traceId } = span.at;
    const own = spans.filter(({ at }) => at.traceId === traceId);
    expect(pathTo(own, span)).toEqual([
      "talaria.dm.v1.DirectMessageService/SendDirectMessage server",
      "send south/bob producer",
      `${PEER}/DeliverDMs client`,
      `${PEER}/DeliverDMs server`,
      "receive bob consumer",
    ]);
  }
  expect(new Set(received.map(({ at }) => at.traceId)).size).toBe(20);
});

test("an attempt that fails is told with its reason, and so is the message that it fails", async () => {
  const { tracer, spans } = tracedSpans();
  const north = await use({ name: "north", tracer });
  const south = await use({ name: "south", agents: [agentEntry("main", { main: true })], tracer });
  introduce(north, south);
  await Promise.all([north.start(), south.start()]);
  const { delivery } = await send(north.client, { target: "south/nobody" });
  expect(stateName(await ended(north.client, delivery.deliveryId))).toBe("FAILED");
  const traceId = parseTraceparent(delivery.trace?.traceparent ?? "")?.traceId;
  const failed = spans.filter(({ at, error }) => at.traceId === traceId && error !== undefined);
  expect(failed.map(({ name, kind, error }) => [name, kind, error])).toEqual([
    [`${PEER}/DeliverDM`, "server", "UNKNOWN_TARGET"],
    [`${PEER}/DeliverDM`, "client", "UNKNOWN_TARGET"],
    ["send south/nobody", "producer", "UNKNOWN_TARGET"],
  ]);
});
