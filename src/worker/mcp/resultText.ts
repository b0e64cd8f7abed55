import { toWellFormed } from "../../base/codePoints.js";
import { cutToBytes } from "../../base/toolPayload.js";
import { isRecord } from "../isRecord.js";
import { MCP_BOUNDS } from "./mcpBounds.js";

/** What a call of a tool came to, for the model. */
export interface McpResult {
  readonly text: string;
  /** Whether the server says that the tool failed. */
  readonly isError: boolean;
}

/** Makes text of a server's result, which may be anything: images and other bytes are named, not shown. */
export function resultText(given: unknown): McpResult {
  const result = isRecord(given) ? given : {};
  const content: readonly unknown[] = Array.isArray(result["content"]) ? result["content"] : [];
  const parts = content.map(partText).filter((part) => part !== "");
  const structured = result["structuredContent"];
  if (parts.length === 0 && structured !== undefined) parts.push(JSON.stringify(structured));
  const whole = toWellFormed(parts.join("\n"));
  const cut = cutToBytes(whole, MCP_BOUNDS.resultBytes);
  const text = cut.length < whole.length ? `${cut}\n[cut: the result was longer]` : cut;
  return { text: text === "" ? "(no content)" : text, isError: result["isError"] === true };
}

function partText(part: unknown): string {
  if (!isRecord(part)) return "";
  const { type, text } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? text : "";
    case "image":
    case "audio":
      return `[${type}: ${word(part["mimeType"], "unknown type")}, ${sizeOf(part["data"])}]`;
    case "resource_link":
      return `[resource: ${word(part["name"], "unnamed")} ${word(part["uri"], "")}]`;
    case "resource": {
      const resource = isRecord(part["resource"]) ? part["resource"] : {};
      if (typeof resource["text"] === "string") return resource["text"];
      return `[resource: ${word(resource["uri"], "unnamed")}, ${word(resource["mimeType"], "unknown type")}, ${sizeOf(resource["blob"])}]`;
    }
    default:
      return `[${word(type, "something")}]`;
  }
}

function word(value: unknown, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value.slice(0, 512) : otherwise;
}

function sizeOf(base64: unknown): string {
  const length = typeof base64 === "string" ? base64.replace(/=+$/, "").length : 0;
  return `${String(Math.floor((length * 3) / 4))} bytes`;
}
