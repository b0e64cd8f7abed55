// A small MCP server on stdio, made with the SDK.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "good", version: "1.0.0" });
const text = (value) => ({ content: [{ type: "text", text: value }] });
server.registerTool("add", { description: "Adds.", inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) =>
  text(String(a + b)),
);
server.registerTool("environment", { description: "Its environment and process group." }, () =>
  text(JSON.stringify({ pid: process.pid, directory: process.cwd(), env: process.env })),
);
server.registerTool("fail", { description: "Fails." }, () => ({ ...text("no luck"), isError: true }));
server.registerTool("picture", { description: "Shows." }, () => ({
  content: [
    { type: "text", text: "look" },
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "resource_link", name: "notes", uri: "file:///notes" },
  ],
}));
server.registerTool("wait", { description: "Never answers." }, () => {
  process.stderr.write("waiting\n");
  return new Promise(() => undefined);
});
server.registerTool("leave", { description: "Exits in the middle of the call." }, () => process.exit(3));
await server.connect(new StdioServerTransport());
