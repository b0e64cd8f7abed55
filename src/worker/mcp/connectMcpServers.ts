import type { McpServer } from "../../gen/talaria/types/v1/policy.js";
import type * as Packages from "../packages/mcpPackages.js";
import type { Tool, ToolSource } from "../tools/tool.js";
import { callMcpTool } from "./callTool.js";
import { type Discovered, discoverTools } from "./discoverTools.js";
import { MCP_BOUNDS } from "./mcpBounds.js";
import { type McpContext, type OpenServer, openServer } from "./openServer.js";
import { createToolNamer, isSelected } from "./toolNames.js";

type Asked =
  | { readonly kind: "answered"; readonly server: OpenServer; readonly found: Discovered }
  | { readonly kind: "failed"; readonly name: string; readonly why: string };

const NO_TOOLS: ToolSource = { tools: [], problems: [], close: () => Promise.resolve() };

/**
 * Asks the MCP servers of the policy, all at once and each for at most 10 s, for their tools, and gives those that the agent's
 * selection offers, at most 128, named `mcp_<server>_<tool>`. A server that cannot be had or that lies about its tools is named in
 * `problems` and in the log, and fails no turn. None is asked in safe mode.
 * @throws the reason of the stop where the turn is stopped meanwhile.
 */
export async function connectMcpServers(context: McpContext): Promise<ToolSource> {
  const { policy } = context.assignment;
  if (policy.safeMode || policy.mcpServers.length === 0) return NO_TOOLS;
  const packages = await import("../packages/mcpPackages.js");
  const asked = await Promise.all(policy.mcpServers.map((server) => ask(context, packages, server)));
  const open = asked.flatMap((one) => (one.kind === "answered" ? [one.server] : []));
  const close = async (): Promise<void> => {
    await Promise.all(open.map((server) => server.close()));
  };
  if (context.signal.aborted) {
    await close();
    context.signal.throwIfAborted();
  }
  const nameOf = createToolNamer();
  const offered: Tool[] = [];
  const problems: string[] = [];
  let left = 0;
  for (const one of asked) {
    if (one.kind === "failed") {
      problems.push(`The MCP server ${one.name} ${one.why}.`);
      continue;
    }
    const { server, found } = one;
    problems.push(...found.problems.map((problem) => `The MCP server ${server.name} ${problem}.`));
    for (const { name: remote, description, parameters } of found.tools) {
      const name = nameOf(server.name, remote);
      if (!isSelected(name, policy.tools)) continue;
      const run: Tool["run"] = (args, { signal }) => callMcpTool(server, remote, args, signal);
      if (offered.length < MCP_BOUNDS.tools) offered.push({ name, description, parameters, run });
      else left += 1;
    }
  }
  if (left > 0)
    problems.push(`The MCP servers offer more than ${String(MCP_BOUNDS.tools)} tools; the rest is left out.`);
  for (const problem of problems) context.log.warn("an MCP server cannot be used as configured", { problem });
  return { tools: offered, problems, close };
}

async function ask(context: McpContext, packages: typeof Packages, server: McpServer): Promise<Asked> {
  const late = new AbortController();
  const cancel = context.clock.after(MCP_BOUNDS.discoveryMs, () => {
    late.abort(new Error("did not answer in time"));
  });
  const signal = AbortSignal.any([context.signal, late.signal]);
  let opened: OpenServer | undefined;
  try {
    opened = await openServer(context, packages, server, signal);
    return { kind: "answered", server: opened, found: await discoverTools(opened, signal) };
  } catch (error) {
    const why = opened === undefined ? messageOf(error) : whyNoList(opened, signal);
    await opened?.close();
    return { kind: "failed", name: server.name, why };
  } finally {
    cancel();
  }
}

function whyNoList(server: OpenServer, signal: AbortSignal): string {
  const end = server.ended();
  if (end !== undefined) return end;
  return signal.aborted ? "did not list its tools in time" : "gives no list of tools that can be read";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
