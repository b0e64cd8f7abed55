import { z } from "zod";

import { checkTool, type McpTool } from "./checkTool.js";
import { MCP_BOUNDS } from "./mcpBounds.js";
import type { OpenServer } from "./openServer.js";

/** A page of a list whose entries may be anything. */
const PAGE = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** What a server offers. */
export interface Discovered {
  /** Tools with different names. */
  readonly tools: readonly McpTool[];
  /** What is wrong with the list, as predicates about the server. */
  readonly problems: readonly string[];
}

/** Reads a server's list of tools, page by page. @throws where it gives none. */
export async function discoverTools(server: OpenServer, signal: AbortSignal): Promise<Discovered> {
  const tools = new Map<string, McpTool>();
  const problems = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    server.asked();
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: "tools/list" as const, params };
    const { tools: listed, nextCursor } = await server.client.request(request, PAGE, {
      signal: AbortSignal.any([signal]),
      timeout: MCP_BOUNDS.discoveryMs,
    });
    for (const { tool, problem } of listed.slice(0, MCP_BOUNDS.tools + 1).map(checkTool)) {
      if (problem !== undefined) problems.add(problem);
      if (tool === undefined) continue;
      if (tools.has(tool.name)) problems.add("lists several tools of the same name; the first one counts");
      else tools.set(tool.name, tool);
    }
    cursor = nextCursor;
    if (cursor === undefined || tools.size > MCP_BOUNDS.tools) break;
    if (page === MCP_BOUNDS.pages) {
      problems.add(`has more than ${String(MCP_BOUNDS.pages)} pages of tools; the rest is left out`);
      break;
    }
  }
  return { tools: [...tools.values()], problems: [...problems] };
}
