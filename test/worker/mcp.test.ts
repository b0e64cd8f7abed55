import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { McpServer as SdkServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";

import type { Clock } from "../../src/base/clock.js";
import { systemClock } from "../../src/base/clock.js";
import { descendantsOf, isAlive, readProcess } from "../../src/base/processTable.js";
import { FakeClock } from "../../src/base/testing/fakeClock.js";
import { McpServer, Policy } from "../../src/gen/talaria/types/v1/policy.js";
import { connectMcpServers } from "../../src/worker/mcp/connectMcpServers.js";
import type { McpContext } from "../../src/worker/mcp/openServer.js";
import type { ToolSource } from "../../src/worker/tools/tool.js";
import { waitFor } from "../kit/waitFor.js";

const fixture = (name: string): string => join(import.meta.dirname, "mcp", name);
const GOOD = [process.execPath, fixture("goodServer.mjs")];
const bad = (mode: string): string[] => [process.execPath, fixture("badServer.mjs"), mode];

let stop: AbortController;
let logged: string[];
let onLog: () => void;
const sources: ToolSource[] = [];
const servers: Server[] = [];
beforeEach(() => {
  stop = new AbortController();
  logged = [];
  onLog = () => undefined;
});
afterEach(async () => {
  await Promise.all(sources.splice(0).map((source) => source.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** What of a policy matters here; the rest has its defaults. */
interface PolicyFacts {
  readonly safeMode?: boolean;
  readonly tools?: string[];
  readonly mcpServers: readonly Partial<McpServer>[];
}

function contextOf(
  policy: PolicyFacts,
  credentials: Readonly<Record<string, string>> = {},
  clock: Clock = systemClock,
): McpContext {
  const log = (message: string, fields = {}): void => {
    logged.push(`${message} ${JSON.stringify(fields)}`);
    onLog();
  };
  const mcpServers = policy.mcpServers.map((server) => ({ ...McpServer.fromPartial({}), ...server }));
  return {
    assignment: { policy: { ...Policy.fromPartial({}), ...policy, mcpServers } } as McpContext["assignment"],
    credential: (name) => credentials[name],
    signal: stop.signal,
    clock,
    log: { info: log, warn: log, error: log },
  };
}

async function connect(...given: Parameters<typeof contextOf>): Promise<ToolSource> {
  const source = await connectMcpServers(contextOf(...given));
  sources.push(source);
  return source;
}

function call(source: ToolSource, name: string, args: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const tool = source.tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name} among ${source.tools.map((one) => one.name).join(", ")}`);
  return tool.run(args, { callId: "c", signal: stop.signal });
}

async function logHas(text: string): Promise<void> {
  if (logged.some((line) => line.includes(text))) return;
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new Error(`not logged: ${text}; there is:\n${logged.join("\n")}`));
    }, 20_000);
    onLog = () => {
      if (!logged.some((line) => line.includes(text))) return;
      clearTimeout(late);
      resolve();
    };
  });
}

test("a server on stdio: tools, results, failures, and an environment that holds what it is given alone", async () => {
  process.env["OF_THE_WORKER"] = "1";
  const mcpServers = [{ name: "good", command: GOOD, environmentNames: ["TOKEN"] }];
  const source = await connect({ mcpServers }, { "mcp/good/env/TOKEN": "s3cret-value" });
  expect(source.problems).toEqual([]);
  expect(source.tools.map(({ name }) => name)).toEqual(
    ["add", "environment", "fail", "picture", "wait", "leave"].map((name) => `mcp_good_${name}`),
  );
  expect(source.tools[0]).toMatchObject({
    description: "Adds.",
    parameters: { type: "object", required: ["a", "b"] },
  });
  expect(await call(source, "mcp_good_add", { a: 2, b: 3 })).toBe("5");
  await expect(call(source, "mcp_good_fail")).rejects.toThrow(/^no luck$/);
  expect(await call(source, "mcp_good_picture")).toBe(
    "look\n[image: image/png, 3 bytes]\n[resource: notes file:///notes]",
  );
  const { env, directory } = JSON.parse(await call(source, "mcp_good_environment")) as {
    readonly env: Record<string, string>;
    readonly directory: string;
  };
  expect(env["TOKEN"]).toBe("s3cret-value");
  expect(env["OF_THE_WORKER"]).toBeUndefined();
  expect(directory).toBe(process.cwd());
  await expect(call(source, "mcp_good_add", { a: "x" })).rejects.toThrow(/validation/i);
});

test("a server that exits in the middle of a call fails that call and those after it", async () => {
  const source = await connect({ mcpServers: [{ name: "good", command: GOOD }] });
  await expect(call(source, "mcp_good_leave")).rejects.toThrow(
    "The MCP server good has exited with code 3 during the call.",
  );
  await expect(call(source, "mcp_good_add", { a: 1, b: 1 })).rejects.toThrow(
    "The MCP server good has exited with code 3.",
  );
});

test("a call ends with the turn's stop", async () => {
  const source = await connect({ mcpServers: [{ name: "good", command: GOOD }] });
  const waiting = call(source, "mcp_good_wait");
  waiting.catch(() => undefined);
  await logHas("waiting");
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});

test("the selection is by name or by server, and servers of all kinds are asked at once", async () => {
  const mcpServers = [
    { name: "good", command: GOOD },
    { name: "bad", command: bad("works") },
    { name: "none", command: ["/no/such/program"] },
  ];
  const { tools, problems } = await connect({ mcpServers, tools: ["mcp_good_add", "mcp_bad_*", "terminal"] });
  expect(tools.map(({ name }) => name)).toEqual(["mcp_good_add", "mcp_bad_t"]);
  expect(problems).toEqual(["The MCP server none cannot be started: there is no such program."]);
  expect(logged.join("\n")).toContain("there is no such program");
});

test("OW36 safe mode starts no server", async () => {
  const { tools, problems } = await connect({ safeMode: true, mcpServers: [{ name: "good", command: GOOD }] });
  expect([tools, problems, logged]).toEqual([[], [], []]);
});

test.each([
  ["exits", /^The MCP server bad has exited with code 2\.$/],
  ["wrong", /^The MCP server bad could not be reached: .*1066-10-14/],
  ["no-list", /^The MCP server bad gives no list of tools that can be read\.$/],
  ["endless", /^The MCP server bad sent a message larger than 8 MiB and was ended\.$/],
])("a server that %s is reported and fails nothing", async (mode, problem) => {
  const source = await connect({
    mcpServers: [
      { name: "bad", command: bad(mode) },
      { name: "ok", command: bad("works") },
    ],
  });
  expect(source.problems).toEqual([expect.stringMatching(problem)]);
  expect(source.tools.map(({ name }) => name)).toEqual(["mcp_ok_t"]);
});

test("a server that hangs costs ten seconds and is ended", async () => {
  const clock = new FakeClock();
  const connecting = connect({ mcpServers: [{ name: "bad", command: bad("hangs") }] }, {}, clock);
  await logHas("hanging");
  await clock.advanceAsync(9_999);
  expect(logged.join("\n")).not.toContain("in time");
  await clock.advanceAsync(1);
  await clock.advanceAsync(10_000);
  expect((await connecting).problems).toEqual(["The MCP server bad did not answer in time."]);
});

test("a stop during the discovery ends it with the stop's reason", async () => {
  const connecting = connectMcpServers(contextOf({ mcpServers: [{ name: "bad", command: bad("hangs") }] }));
  await logHas("hanging");
  stop.abort(new Error("stopped"));
  await expect(connecting).rejects.toThrow("stopped");
});

test("lies about tools are named, and what is left can be used", async () => {
  const { tools, problems } = await connect({ mcpServers: [{ name: "bad", command: bad("lies") }] });
  expect(tools.map(({ name }) => name)).toEqual([
    "mcp_bad_listed",
    "mcp_bad_huge",
    "mcp_bad_odd_name_",
    "mcp_bad_odd_name__2",
  ]);
  expect(tools[1]).toMatchObject({ parameters: { type: "object" } });
  expect(tools[1]?.description).toHaveLength(8_192);
  expect(problems.map((problem) => problem.replace("The MCP server bad ", ""))).toEqual([
    "lists something that is no tool.",
    "lists a tool without a name.",
    "lists several tools of the same name; the first one counts.",
    'gives its tool "no-schema" a schema that is not of an object; the tool is left out.',
    'gives its tool "wrong-schema" a schema that is not of an object; the tool is left out.',
    'gives its tool "deep" a schema that is nested too deeply; the tool is left out.',
    'gives its tool "huge" a schema of more than 64 KiB; it is offered with one that takes anything.',
  ]);
});

test("a turn has 128 tools of MCP servers at most, and a list has an end", async () => {
  const many = await connect({ mcpServers: [{ name: "bad", command: bad("many") }] });
  expect(many.tools).toHaveLength(128);
  expect(many.problems).toEqual(["The MCP servers offer more than 128 tools; the rest is left out."]);
  const pages = await connect({ mcpServers: [{ name: "bad", command: bad("pages") }] });
  expect(pages.tools).toHaveLength(16);
  expect(pages.problems).toEqual(["The MCP server bad has more than 16 pages of tools; the rest is left out."]);
});

test("noise on standard output is skipped, nonsense is a result without content, a refusal a failed call", async () => {
  const noise = await connect({ mcpServers: [{ name: "bad", command: bad("noise") }] });
  expect(noise.problems).toEqual([]);
  expect(await call(noise, "mcp_bad_t")).toBe("(no content)");
  expect(logged.filter((line) => line.includes("no message"))).toHaveLength(2);
  const refusing = await connect({ mcpServers: [{ name: "bad", command: bad("refuses") }] });
  await expect(call(refusing, "mcp_bad_t")).rejects.toThrow(
    "The MCP server bad refused the call: MCP error -32000: not today",
  );
});

test.each(["floods", "babbles"])("a server that %s in a call is ended", async (mode) => {
  const source = await connect({ mcpServers: [{ name: "bad", command: bad(mode) }] });
  await expect(call(source, "mcp_bad_t")).rejects.toThrow(
    "The MCP server bad sent a flood of messages and was ended during the call.",
  );
});

test("a server behind a launcher of its own is ended with it", async () => {
  const before = descendantsOf(process.pid).map(({ pid }) => pid);
  const launcher = ["/bin/sh", "-c", '"$@"; exit 0', "sh", ...bad("floods")];
  const source = await connect({ mcpServers: [{ name: "bad", command: launcher }] });
  const started = descendantsOf(process.pid).filter(({ pid }) => !before.includes(pid));
  expect(started).toHaveLength(2);
  await expect(call(source, "mcp_bad_t")).rejects.toThrow(
    "The MCP server bad sent a flood of messages and was ended during the call.",
  );
  await waitFor("the end of both", () => {
    const left = started.filter(({ pid }) => isAlive(readProcess(pid)));
    return left.length === 0 ? { found: true } : { state: left };
  });
});

async function serve(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp`;
}

test("a server over HTTP gets the headers that it is given", async () => {
  const seen: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    void (async () => {
      seen.push(request.headers.authorization);
      const server = new SdkServer({ name: "web", version: "1.0.0" });
      server.registerTool("echo", { description: "Echoes.", inputSchema: { text: z.string() } }, ({ text }) => ({
        content: [{ type: "text", text }],
      }));
      const transport = new StreamableHTTPServerTransport({});
      await server.connect(transport);
      await transport.handleRequest(request, response);
    })();
  });
  const mcpServers = [{ name: "web", url, headerNames: ["Authorization"] }];
  const source = await connect({ mcpServers }, { "mcp/web/header/Authorization": "Bearer tok-123456" });
  expect(source.problems).toEqual([]);
  expect(await call(source, "mcp_web_echo", { text: "hi" })).toBe("hi");
  expect(new Set(seen)).toEqual(new Set(["Bearer tok-123456"]));
});

test("a server that wants a login is reported, and no login is opened", async () => {
  const asked: string[] = [];
  const url = await serve((request, response) => {
    asked.push(`${request.method ?? ""} ${request.url ?? ""}`);
    response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="http://127.0.0.1:1/meta"' }).end("log in");
  });
  const { problems } = await connect({ mcpServers: [{ name: "web", url }] });
  expect(problems).toEqual(["The MCP server web wants a login, which is never opened: give it a header."]);
  expect(asked).toEqual(["POST /mcp"]);
});

test("a header that the configuration holds no more, a page instead of an answer, and a port where nobody listens", async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<html>");
  });
  const { problems } = await connect({
    mcpServers: [
      { name: "gone", url, headerNames: ["X-Key"] },
      { name: "page", url },
      { name: "nobody", url: "http://127.0.0.1:9/mcp" },
    ],
  });
  expect(problems).toEqual([
    "The MCP server gone needs the header X-Key, which the agent's configuration does not hold.",
    expect.stringMatching(/^The MCP server page could not be reached: .*text\/html/),
    expect.stringMatching(/^The MCP server nobody could not be reached: /),
  ]);
});
