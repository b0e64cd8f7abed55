import { createRequire } from "node:module";
import { readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { parseTraceparent } from "../../src/rpc/traceContext.js";
import { type CollectedSpan, type Collector, startCollector } from "../kit/collector.js";
import { writeHome } from "../kit/homeFiles.js";
import { type ScriptedModel, startScriptedModel } from "../kit/scriptedModel.js";
import { calling, saying } from "../kit/scriptedModelReplies.js";
import { startTestGateway, type TestGateway } from "../kit/testGateway.js";
import { waitFor } from "../kit/waitFor.js";

/** Texts and a key that no span may hold. */
const HIDDEN = {
  ask: "Please ask the southern office about the harvest.",
  message: "How was the harvest, dear colleague?",
  answer: "The harvest was four hundred bushels.",
  last: "Four hundred bushels, says the south.",
  key: "sk-scripted-0123456789abcdef",
} as const;

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CLIENT = "b7ad6b7169203331";

let model: ScriptedModel;
let collector: Collector;

beforeAll(async () => {
  [model, collector] = await Promise.all([startScriptedModel(), startCollector()]);
});
afterAll(() => Promise.all([model.close(), collector.close()]));

function homeOf(name: string, agents: Readonly<Record<string, object>>, tracing: object): string {
  const home = writeHome({
    agents: Object.fromEntries(
      Object.entries(agents).map(([agent, more]) => [
        agent,
        model.agent(agent, { api_key_env: "SCRIPTED_KEY", ...more }),
      ]),
    ),
    config: { name, listeners: { peers: { host: "127.0.0.1", port: 0 } }, tracing },
  });
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  return home;
}

/** A gateway that is closed with the test; it may be closed before. */
async function use(home: string): Promise<TestGateway> {
  const gateway = await startTestGateway({ home, env: { ...process.env, SCRIPTED_KEY: HIDDEN.key } });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function pair(north: TestGateway, south: TestGateway): Promise<void> {
  const invite = { principal: "client:cli", requestId: "invite", name: "", grants: undefined, connector: false };
  const address = south.gateway.addresses.peers ?? "";
  const { code } = await south.rooms.dm.registry.invite({ ...invite, address });
  const ownAddress = north.gateway.addresses.peers ?? "";
  await north.rooms.dm.registry.join({ requestId: "join", code, name: "", ownAddress });
}

async function settled(gateway: TestGateway, inputs: number): Promise<void> {
  await waitFor(`${String(inputs)} turns have ended`, () => {
    const rows = gateway.rows<{ outcome: string | null }>("SELECT outcome FROM inputs");
    return rows.length === inputs && rows.every(({ outcome }) => outcome === "completed")
      ? { found: true }
      : { state: rows };
  });
}

// The first, so that nothing has loaded the packages before.
test("a gateway that does not trace passes a trace on as it came, and loads nothing for it", async () => {
  const home = writeHome({ agents: { carol: model.agent("carol") } });
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const gateway = await use(home);
  model.script("carol", saying("Here I am."));
  const trace = { traceId: TRACE, spanId: CLIENT, sampled: true };
  const request = { requestId: "hi", target: "carol", body: "Hello", inReplyTo: "", onBehalfOf: "", trace: undefined };
  await unaryCall(gateway.client.client, DirectMessageServiceService.sendDirectMessage, request, { trace });
  await settled(gateway, 1);
  const stored = { traceparent: `00-${TRACE}-${CLIENT}-01` };
  expect(loadedPackages()).not.toContain("@opentelemetry/sdk-trace");
  expect(gateway.rows("SELECT traceparent FROM inputs")).toEqual([stored]);
  expect(gateway.rows("SELECT traceparent FROM deliveries")).toEqual([stored]);
  expect(model.of("carol").at(-1)?.headers["traceparent"]).toBeUndefined();
});

test("one trace leads from a client through two gateways and a night in the queue to the reply", async () => {
  const tracing = { endpoint: collector.endpoint, sample_ratio: 0 };
  const northHome = homeOf("north", { alice: { title: "Alice" } }, tracing);
  const south = await use(homeOf("south", { bob: { title: "Bob" } }, tracing));
  let north = await use(northHome);
  await pair(north, south);
  await north.rooms.dm.registry.hold("south", "client:cli", "maintenance");
  model.script(
    "alice",
    calling({ id: "m1", name: "message_agent", arguments: { target: "south/bob", message: HIDDEN.message } }),
    saying("I have asked."),
    saying(HIDDEN.last),
  );
  model.script("bob", saying(HIDDEN.answer));

  const trace = { traceId: TRACE, spanId: CLIENT, sampled: true };
  const request = {
    requestId: "ask",
    target: "alice",
    body: HIDDEN.ask,
    inReplyTo: "",
    onBehalfOf: "",
    trace: undefined,
  };
  await unaryCall(north.client.client, DirectMessageServiceService.sendDirectMessage, request, { trace });
  await settled(north, 1);
  expect(north.rows("SELECT state FROM deliveries WHERE route = 'peer_outbound'")).toEqual([{ state: "queued" }]);

  await north.close();
  north = await use(northHome);
  await north.rooms.dm.registry.release("south", "client:cli");
  await settled(north, 2);
  await settled(south, 1);
  await collector.until("both turns of Alice and the one of Bob are told", (spans) => {
    const turns = spans.filter(({ name }) => name === "talaria.turn").map(({ gateway }) => gateway);
    return turns.length === 3 && spans.some(({ name, gateway }) => gateway === "north" && name === "send south/bob");
  });

  expect(loadedPackages()).toContain("@opentelemetry/sdk-trace");
  const { spans } = collector;
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  for (const { name, startMs, endMs } of spans) expect(endMs, name).toBeGreaterThanOrEqual(startMs);

  const bobs = spanNamed(spans, "chat bob");
  expect(pathTo(spans, bobs)).toEqual([
    `client ${CLIENT}`,
    "north talaria.dm.v1.DirectMessageService/SendDirectMessage",
    "north send alice",
    "north talaria.turn",
    "north invoke_agent alice",
    "north execute_tool message_agent",
    "north talaria.owner.v1.ExecutionStoreService/SendDirectMessage",
    "north send south/bob",
    "north talaria.dm.v1.PeerService/DeliverDM",
    "south talaria.dm.v1.PeerService/DeliverDM",
    "south receive bob",
    "south talaria.turn",
    "south invoke_agent bob",
    "south chat bob",
  ]);
  const asked = spans.filter(({ name }) => name === "chat alice");
  expect(asked.map((span) => pathTo(spans, span).slice(-4))).toEqual([
    ["north send alice", "north talaria.turn", "north invoke_agent alice", "north chat alice"],
    ["north send alice", "north talaria.turn", "north invoke_agent alice", "north chat alice"],
    ["north send south/bob", "north talaria.turn", "north invoke_agent alice", "north chat alice"],
  ]);
  // Whatever else was told hangs below something that was told.
  for (const span of spans) expect(pathTo(spans, span)[0], span.name).toBe(`client ${CLIENT}`);

  const headers = [...model.of("alice"), ...model.of("bob")].map(
    ({ headers: sent }) => parseTraceparent(String(sent["traceparent"]))?.spanId,
  );
  expect(new Set(headers)).toEqual(new Set([...asked, bobs].map(({ spanId }) => spanId)));
  expect(bobs.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "bob",
    "gen_ai.usage.input_tokens": 120,
    "gen_ai.response.finish_reasons": ["stop"],
  });
  expect(spanNamed(spans, "send south/bob")).toMatchObject({
    kind: 4,
    attributes: { "talaria.delivery.route": "peer_outbound", "talaria.delivery.state": "replied" },
  });
  expect(spanNamed(spans, "execute_tool message_agent").attributes).not.toHaveProperty("gen_ai.tool.call.arguments");

  const page = readFileSync("docs/tracing.md", "utf8");
  const told = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
  expect([...told].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  const places = /(?:alice|bob|message_agent|south\/bob)$|(?<=ExecutionStoreService\/).*/;
  const names = new Set(spans.map(({ name }) => name.replace(places, "")));
  expect([...names].filter((name) => !page.includes(name))).toEqual([]);

  const sent = collector.bodies.join("\n");
  for (const hidden of Object.values(HIDDEN)) expect(sent).not.toContain(hidden);
});

test("a child turn is below the tool call that gave its task, and a turn without a caller's trace begins one", async () => {
  const own = await startCollector();
  onTestFinished(() => own.close());
  const home = writeHome({ config: { name: "family", tracing: { endpoint: own.endpoint } } });
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const gateway = await use(home);
  const run = gateway.client.run("echo", "!child a task");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED" });
  await own.until(
    "the parent's turn is told",
    (spans) => spans.filter(({ name }) => name === "talaria.turn").length === 2,
  );
  const { spans } = own;
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const paths = spans.filter(({ name }) => name === "invoke_agent echo").map((span) => pathTo(spans, span));
  const parent = ["family talaria.gateway.v1.TurnService/RunTurn", "family talaria.turn", "family invoke_agent echo"];
  expect(paths).toContainEqual(parent);
  expect(paths).toContainEqual([
    ...parent,
    "family execute_tool delegate",
    "family talaria.owner.v1.ExecutionStoreService/RunChild",
    "family talaria.turn",
    "family invoke_agent echo",
  ]);
});

test("a collector that is down holds up neither a turn nor the end of the gateway", async () => {
  const endpoint = `http://127.0.0.1:${String(await unusedPort())}/v1/traces`;
  const gateway = await use(homeOf("lonely", { dave: {} }, { endpoint }));
  model.script("dave", saying("Here I am."));
  const request = { requestId: "hi", target: "dave", body: "Hello", inReplyTo: "", onBehalfOf: "", trace: undefined };
  await unaryCall(gateway.client.client, DirectMessageServiceService.sendDirectMessage, request);
  await settled(gateway, 1);
  const { context } = gateway;
  await gateway.gateway.drain(0);
  expect(context.spanCounts?.().exported).toBe(0);
  expect(gateway.log.some((line) => line.includes('"msg":"tracing ended"'))).toBe(true);
});

/** OpenTelemetry's packages that this process has loaded. */
function loadedPackages(): string[] {
  const { cache } = createRequire(import.meta.url);
  return Object.keys(cache).flatMap((path) => /@opentelemetry\/[a-z-]+/.exec(path)?.[0] ?? []);
}

function spanNamed(spans: readonly CollectedSpan[], name: string): CollectedSpan {
  const found = spans.filter((span) => span.name === name);
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${String(found.length)} spans named ${name}`);
  return found[0];
}

/** Names from the first span of the trace down to this one. */
function pathTo(spans: readonly CollectedSpan[], span: CollectedSpan): string[] {
  const path: string[] = [];
  for (let at: CollectedSpan | undefined = span; at !== undefined;) {
    path.unshift(`${at.gateway} ${at.name}`);
    const { parentSpanId }: CollectedSpan = at;
    at = spans.find(({ spanId }) => spanId === parentSpanId);
    if (at === undefined && parentSpanId !== "")
      path.unshift(parentSpanId === CLIENT ? `client ${CLIENT}` : `missing ${parentSpanId}`);
  }
  return path;
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  return port;
}
