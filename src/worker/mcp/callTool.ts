import { z } from "zod";

import { cutToCodePoints, toWellFormed } from "../../base/codePoints.js";
import { MCP_BOUNDS } from "./mcpBounds.js";
import type { OpenServer } from "./openServer.js";
import { REQUEST_TIMEOUT } from "./requestTimeout.js";
import { resultText } from "./resultText.js";

/** A result is looked at piece by piece: a server may send anything. */
const ANYTHING = z.looseObject({});

/**
 * Calls a tool of a server. @returns the result as text for the model.
 * @throws the reason of `signal`; an Error for the model where the tool failed, or the server did.
 */
export async function callMcpTool(
  server: OpenServer,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const before = server.ended();
  if (before !== undefined) throw new Error(`The MCP server ${server.name} ${before}.`);
  server.asked();
  let answer: unknown;
  try {
    const request = { method: "tools/call" as const, params: { name, arguments: { ...args } } };
    // A signal of its own: the library leaves a listener on it.
    answer = await server.client.request(request, ANYTHING, {
      signal: AbortSignal.any([signal]),
      timeout: MCP_BOUNDS.callMs,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(whyFailed(server, error), { cause: error });
  }
  const { text, isError } = resultText(answer);
  if (isError) throw new Error(text);
  return text;
}

function whyFailed(server: OpenServer, error: unknown): string {
  const end = server.ended();
  if (end !== undefined) return `The MCP server ${server.name} ${end} during the call.`;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  if (code === REQUEST_TIMEOUT) {
    return `The MCP server ${server.name} did not answer within ${String(MCP_BOUNDS.callMs / 1_000)} s.`;
  }
  const said = cutToCodePoints(toWellFormed(String(message)), MCP_BOUNDS.errorCodePoints, "…");
  return `The MCP server ${server.name} refused the call: ${said}`;
}
