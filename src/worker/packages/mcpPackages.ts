/** The packages behind an agent's MCP servers, in a file of their own: a worker reads it only for an agent that has some. */
export { Client } from "@modelcontextprotocol/sdk/client/index.js";
export { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
export { JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";
