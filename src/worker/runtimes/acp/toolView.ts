import { isRecord } from "../../isRecord.js";
import type { ContentBlock, ToolCallContent, ToolCallUpdate } from "../../packages/acpPackages.js";

/** What viewers see of an agent's own tool call before it runs. */
export interface ToolView {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The name and arguments of an agent's tool call: its name where it tells one, else its kind. Pure. */
export function toolView({ name, kind, title, rawInput }: ToolCallUpdate): ToolView {
  const told = title ? { title } : {};
  return { name: name ?? kind ?? "tool", arguments: { ...told, ...(isRecord(rawInput) ? rawInput : {}) } };
}

/** The result of a tool call as text: its content, else its raw output. Pure. */
export function toolResult({ content, rawOutput }: ToolCallUpdate): string {
  const text = (content ?? [])
    .map(textOfContent)
    .filter((part) => part !== "")
    .join("\n");
  if (text !== "") return text;
  if (rawOutput === undefined || rawOutput === null) return "";
  return typeof rawOutput === "string" ? rawOutput : JSON.stringify(rawOutput);
}

/** A piece of content as text: what is no text is named. Pure. */
export function textOfBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${block.name}](${block.uri})`;
    case "resource":
      return "text" in block.resource ? block.resource.text : `[${block.resource.uri}]`;
    default:
      return `[${block.type}]`;
  }
}

function textOfContent(part: ToolCallContent): string {
  switch (part.type) {
    case "content":
      return textOfBlock(part.content);
    case "diff":
      return `${part.path} was changed.`;
    default:
      return "";
  }
}
