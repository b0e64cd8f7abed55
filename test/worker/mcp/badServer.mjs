// MCP servers on stdio that lie, written by hand. Usage: node badServer.mjs MODE
import { createInterface } from "node:readline";

const mode = process.argv[2];
const schema = { type: "object", properties: {} };
const lists = {
  lies: [
    7,
    { name: "", inputSchema: schema },
    { name: "listed", inputSchema: schema },
    { name: "listed", inputSchema: schema },
    { name: "no-schema" },
    { name: "wrong-schema", inputSchema: { type: "string" } },
    {
      name: "deep",
      inputSchema: Array(40)
        .fill(0)
        .reduce((inner) => ({ type: "object", a: inner }), {}),
    },
    { name: "huge", description: "x".repeat(20_000), inputSchema: { ...schema, note: "x".repeat(70_000) } },
    { name: "odd name!", inputSchema: schema },
    { name: "odd_name_", inputSchema: schema },
  ],
  many: Array.from({ length: 200 }, (_, index) => ({ name: `t${index}`, inputSchema: schema })),
  works: [{ name: "t", inputSchema: schema }],
};
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const note = { method: "notifications/message", params: { level: "info", data: "x" } };

function flood(line = `${JSON.stringify({ jsonrpc: "2.0", ...note })}\n`) {
  while (process.stdout.write(line));
  process.stdout.once("drain", () => flood(line));
}

if (mode === "exits") process.exit(2);
if (mode === "hangs") process.stderr.write("hanging\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (mode === "hangs") continue;
  if (method === "initialize") {
    if (mode === "noise") process.stdout.write("Starting up...\n{not json}\n");
    if (mode === "endless") {
      const more = () => {
        while (process.stdout.write("x".repeat(65_536)));
        process.stdout.once("drain", more);
      };
      more();
      continue;
    }
    if (mode === "wrong") {
      send({
        id,
        result: { protocolVersion: "1066-10-14", capabilities: {}, serverInfo: { name: "w", version: "1" } },
      });
      continue;
    }
    send({
      id,
      result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "b", version: "1" } },
    });
  } else if (method === "tools/list") {
    if (mode === "no-list") send({ id, result: { tools: "all of them" } });
    else if (mode === "pages")
      send({ id, result: { tools: [{ name: `p${id}`, inputSchema: schema }], nextCursor: "again" } });
    else send({ id, result: { tools: lists[mode] ?? lists.works } });
  } else if (method === "tools/call") {
    if (mode === "floods") flood();
    else if (mode === "babbles") flood("no message\n");
    else if (mode === "refuses") send({ id, error: { code: -32_000, message: "not today" } });
    else send({ id, result: { content: "nonsense" } });
  }
}
