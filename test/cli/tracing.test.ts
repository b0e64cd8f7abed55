import { expect, onTestFinished, test } from "vitest";

import { type CollectedSpan, type Collector, startCollector } from "../kit/collector.js";
import { startTestGateway } from "../kit/testGateway.js";
import { noSurroundings, talariaWith } from "./useTalaria.js";

/** Nothing of the tests' own surroundings says that anything is traced. */
const QUIET = {
  ...noSurroundings,
  TRACEPARENT: undefined,
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: undefined,
};
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";

/** A collector, and a gateway that tells it what it is told to. */
async function use(tracingTo?: (endpoint: string) => object) {
  const collector = await startCollector();
  const tracing = tracingTo?.(collector.endpoint);
  const gateway = await startTestGateway({ config: { name: "north", ...(tracing === undefined ? {} : { tracing }) } });
  onTestFinished(async () => {
    await gateway.close();
    await collector.close();
  });
  return { collector, gateway, home: gateway.home };
}

/** Names from the first span of the trace down to the one that is named last. */
function pathTo({ spans }: Collector, gateway: string, name: string): readonly string[] {
  const path: string[] = [];
  let at: CollectedSpan | undefined = spans.find((span) => span.gateway === gateway && span.name === name);
  while (at !== undefined) {
    const { parentSpanId }: CollectedSpan = at;
    path.unshift(`${at.gateway} ${at.name}`);
    at = spans.find(({ spanId }) => spanId === parentSpanId);
    if (at === undefined && parentSpanId !== "") path.unshift(parentSpanId);
  }
  return path;
}

test("a turn's trace begins at the command that asked for it, as the standard variables say", async () => {
  const { collector, home } = await use((endpoint) => ({ endpoint, sample_ratio: 0 }));
  const env = {
    ...QUIET,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.endpoint,
    TRACEPARENT: `00-${TRACE}-${CALLER}-01`,
  };
  const run = await talariaWith(env)("--home", home, "run", "echo", "Good morning");
  expect(run).toMatchObject({ code: 0, stdout: "Good morning\n", stderr: "" });
  await collector.until("the turn is told", (spans) => spans.some(({ name }) => name === "talaria.turn"));
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(pathTo(collector, "north", "talaria.turn")).toEqual([
    CALLER,
    "talaria talaria run",
    "talaria talaria.gateway.v1.TurnService/RunTurn",
    "north talaria.gateway.v1.TurnService/RunTurn",
    "north talaria.turn",
  ]);
  const calls = collector.spans.filter(({ kind }) => kind === 3);
  expect(calls).toMatchObject([{ attributes: { "rpc.system.name": "grpc", "rpc.response.status_code": "OK" } }]);
  expect(collector.bodies.join("")).not.toContain("Good morning");
});

test("a message's trace begins at the command, as the home's configuration says; a refusal is told", async () => {
  const { collector, home } = await use((endpoint) => ({ endpoint }));
  const at = talariaWith(QUIET);
  const sent = await at("--home", home, "dm", "send", "echo", "Ping", "--wait");
  expect(sent).toMatchObject({ code: 0, stdout: "Ping\n", stderr: "" });
  await collector.until("the turn is told", (spans) => spans.some(({ name }) => name === "talaria.turn"));
  expect(pathTo(collector, "north", "talaria.turn").slice(0, 4)).toEqual([
    "talaria talaria dm send",
    "talaria talaria.dm.v1.DirectMessageService/SendDirectMessage",
    "north talaria.dm.v1.DirectMessageService/SendDirectMessage",
    "north send echo",
  ]);
  expect((await at("--home", home, "dm", "send", "nobody", "Ping")).code).toBe(66);
  const refused = collector.spans.filter(({ error }) => error === "UNKNOWN_TARGET");
  expect(refused.map(({ name }) => name)).toContain("talaria dm send");
});

test("a collector that is down keeps no command from its answer", async () => {
  const { home, collector } = await use();
  const { endpoint } = collector;
  await collector.close();
  const run = talariaWith({ ...QUIET, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint });
  expect(await run("--home", home, "run", "echo", "Hello")).toMatchObject({ code: 0, stdout: "Hello\n", stderr: "" });
});

test("a trace that the command was started in reaches the turn, also where nothing is told", async () => {
  const { home, gateway } = await use();
  const traceparent = `00-${TRACE}-${CALLER}-01`;
  const run = talariaWith({ ...QUIET, TRACEPARENT: traceparent });
  expect((await run("--home", home, "run", "echo", "Hello")).code).toBe(0);
  expect((await talariaWith(QUIET)("--home", home, "run", "echo", "Again")).code).toBe(0);
  const [first, second] = gateway.rows<{ traceparent: string }>("SELECT traceparent FROM inputs ORDER BY sequence");
  expect(first?.traceparent).toBe(traceparent);
  expect(second?.traceparent).not.toContain(TRACE);
});
