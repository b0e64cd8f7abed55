import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

import { VERSION } from "../../base/version.js";
import { scrubbedEnvironment } from "../../base/scrubbedEnvironment.js";
import type { McpServer } from "../../gen/talaria/types/v1/policy.js";
import type * as Packages from "../packages/mcpPackages.js";
import type { TurnContext } from "../turnContext.js";
import { boundedFetch } from "./boundedFetch.js";
import { MCP_BOUNDS } from "./mcpBounds.js";
import { REQUEST_TIMEOUT } from "./requestTimeout.js";
import { StdioTransport } from "./stdioTransport.js";

/** What of a turn the MCP servers use. */
export type McpContext = Pick<TurnContext, "assignment" | "credential" | "signal" | "clock" | "log">;

/** A server that answers. */
export interface OpenServer {
  readonly name: string;
  readonly client: Packages.Client;
  /** What became of the server, where it has ended; a predicate such as `has exited with code 1`. */
  ended(): string | undefined;
  /** Says that a request is sent: what a server may send counts from here. */
  asked(): void;
  /** Ends it. Never throws. */
  close(): Promise<void>;
}

/**
 * Starts a server, or finds it, and shakes hands with it.
 * @throws an Error whose message is a predicate about the server; nothing of it is left then.
 */
export async function openServer(
  context: McpContext,
  packages: typeof Packages,
  server: McpServer,
  signal: AbortSignal,
): Promise<OpenServer> {
  const { log } = context;
  const { name } = server;
  const process = server.url === "" ? stdioOf(context, packages, server) : undefined;
  const transport = process ?? httpOf(context, packages, server);
  const client = new packages.Client({ name: "talaria", version: VERSION }, { capabilities: {} });
  let end: string | undefined;
  let closing = false;
  const flood: { end?: string } = {};
  let messages = 0;
  let oddities = 0;
  const close = async (): Promise<void> => {
    closing = true;
    await client.close().catch(() => undefined);
  };
  const onFlood = (): void => {
    end = flood.end = "sent a flood of messages and was ended";
    log.warn("an MCP server sent a flood of messages", { server: name });
    if (process === undefined) void close();
    else process.kill();
  };
  transport.onmessage = () => {
    messages += 1;
    if (messages === MCP_BOUNDS.answerMessages) onFlood();
  };
  client.onclose = () => {
    end ??= process === undefined ? "has closed the connection" : (process.how ?? "has ended");
    if (!closing) log.warn("an MCP server has ended", { server: name, how: end });
  };
  client.onerror = (error) => {
    oddities += 1;
    if (oddities === MCP_BOUNDS.answerMessages) onFlood();
    if (oddities <= 20) log.info("an MCP server misbehaves", { server: name, problem: error.message.slice(0, 512) });
  };
  try {
    const options = { signal, timeout: MCP_BOUNDS.discoveryMs };
    await client.connect(transport, options);
  } catch (error) {
    // What the server did by itself comes before what follows from our letting go of it.
    const why = process?.how ?? flood.end ?? whyNot(error, signal);
    await close();
    throw new Error(why, { cause: error });
  }
  return {
    name,
    client,
    ended: () => end,
    asked: () => {
      messages = 0;
    },
    close,
  };
}

function stdioOf(context: McpContext, packages: typeof Packages, server: McpServer): StdioTransport {
  const { clock, log } = context;
  const values = valuesOf(context, server.environmentNames, (name) => `mcp/${server.name}/env/${name}`, "variable");
  return new StdioTransport({
    command: server.command,
    env: { ...scrubbedEnvironment(process.env), ...values },
    clock,
    parse: (line): JSONRPCMessage => packages.JSONRPCMessageSchema.parse(JSON.parse(line)),
    onStderr: (text) => {
      log.info("an MCP server writes to standard error", { server: server.name, text: text.slice(0, 4_096) });
    },
  });
}

function httpOf(
  context: McpContext,
  packages: typeof Packages,
  server: McpServer,
): Packages.StreamableHTTPClientTransport {
  const headers = valuesOf(context, server.headerNames, (name) => `mcp/${server.name}/header/${name}`, "header");
  // Without a provider of logins the transport opens none: a server that wants one is refused with its status.
  return new packages.StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers },
    fetch: boundedFetch,
    reconnectionOptions: {
      initialReconnectionDelay: MCP_BOUNDS.reconnectMinMs,
      maxReconnectionDelay: MCP_BOUNDS.reconnectMaxMs,
      reconnectionDelayGrowFactor: 2,
      maxRetries: MCP_BOUNDS.reconnects,
    },
  });
}

function valuesOf(
  { credential }: McpContext,
  names: readonly string[],
  credentialName: (name: string) => string,
  kind: string,
): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => {
      const value = credential(credentialName(name));
      if (value === undefined)
        throw new Error(`needs the ${kind} ${name}, which the agent's configuration does not hold`);
      return [name, value];
    }),
  );
}

function whyNot(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "did not answer in time";
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (code === 401 || code === 403) return "wants a login, which is never opened: give it a header";
  if (code === "ENOENT") return "cannot be started: there is no such program";
  if (code === "EACCES") return "cannot be started: the program may not be run";
  if (code === REQUEST_TIMEOUT) return "did not answer in time";
  return `could not be reached: ${String(message).slice(0, 256)}`;
}
