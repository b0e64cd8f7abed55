import { cutToCodePoints, toWellFormed } from "../../base/codePoints.js";
import { isRecord } from "../isRecord.js";
import { MCP_BOUNDS } from "./mcpBounds.js";

/** A tool as its server describes it, within bounds. */
export interface McpTool {
  /** Name at the server. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments, an object's. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What a server's description of a tool is worth: a tool, or none; `problem` says what is wrong with it. */
export interface CheckedTool {
  readonly tool?: McpTool;
  readonly problem?: string;
}

const ANY_OBJECT = { type: "object" };
/** Deepest nesting of a schema: readers of JSON give up beyond some depth. */
const DEEPEST = 32;

/** Checks one entry of a server's list of tools, which may be anything. */
export function checkTool(given: unknown): CheckedTool {
  if (!isRecord(given)) return { problem: "lists something that is no tool" };
  const { name, description, inputSchema } = given;
  if (typeof name !== "string" || name === "" || name.length > 256) return { problem: "lists a tool without a name" };
  const shown = JSON.stringify(cutToCodePoints(toWellFormed(name), 64, "…"));
  if (!isRecord(inputSchema) || inputSchema["type"] !== "object") {
    return { problem: `gives its tool ${shown} a schema that is not of an object; the tool is left out` };
  }
  if (!isShallow(inputSchema, DEEPEST)) {
    return { problem: `gives its tool ${shown} a schema that is nested too deeply; the tool is left out` };
  }
  const text = typeof description === "string" ? toWellFormed(description) : "";
  const tool = { name, description: cutToCodePoints(text, MCP_BOUNDS.descriptionCodePoints, "…") };
  if (Buffer.byteLength(JSON.stringify(inputSchema), "utf8") <= MCP_BOUNDS.schemaBytes) {
    return { tool: { ...tool, parameters: inputSchema } };
  }
  return {
    tool: { ...tool, parameters: ANY_OBJECT },
    problem: `gives its tool ${shown} a schema of more than 64 KiB; it is offered with one that takes anything`,
  };
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((one) => isShallow(one, depth - 1));
}
