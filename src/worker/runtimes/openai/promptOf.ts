import { AuthorKind } from "../../../gen/talaria/types/v1/author.js";
import { MessageRole, type ConversationMessage } from "../../../gen/talaria/types/v1/conversation.js";
import type { PrefillMessage } from "../../../gen/talaria/types/v1/policy.js";
import type { ChatMessage, ChatPrompt } from "../../packages/modelPackages.js";
import { inputRowOf, type InputFacts } from "../conversation/inputRowOf.js";
import type { InputImage } from "../conversation/readImages.js";
import { joinUserMessages } from "./joinUserMessages.js";
import { pairToolCalls, type PairedRow } from "./pairToolCalls.js";

/** What a request is made from. */
export interface PromptParts extends InputFacts {
  /** Sections of the system prompt; empty ones are left out. */
  readonly instructions: readonly string[];
  /** Rows put before the conversation. */
  readonly prefill: readonly PrefillMessage[];
  /** The input with its attribution, as the model is to read it. */
  readonly text: string;
  readonly images: readonly InputImage[];
}

type UserContent = Extract<ChatMessage, { role: "user" }>["content"];

/**
 * The messages of a request: instructions, prefill, what summaries stand for, the conversation, the input, and what the turn has
 * done so far. Calls without an answer get one, so that a crash never leaves a history that no endpoint takes. Pure.
 */
export function promptOf(parts: PromptParts): ChatPrompt {
  const { instructions, prefill, text, images } = parts;
  const { summaries, earlier, later } = splitRows(parts);
  const system = instructions.filter((section) => section.trim() !== "").join("\n\n");
  const input: UserContent = [
    { type: "text", text },
    ...images.map(({ mediaType, data }) => ({ type: "file" as const, mediaType, data })),
  ];
  const messages: ChatMessage[] = [
    ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
    ...prefill.map(prefillMessage),
    ...summaries.map((row) => note(`[Summary of the conversation so far]\n${row.text}`)),
    ...pairToolCalls(earlier).flatMap((row) => messagesOf(row, false)),
    { role: "user", content: input },
    ...pairToolCalls(later).flatMap((row) => messagesOf(row, true)),
  ];
  const last = messages.at(-1);
  if (last?.role === "assistant") messages.push(note("[The answer above was broken off. Go on from there.]"));
  return joinUserMessages(messages);
}

function splitRows(parts: PromptParts): {
  readonly summaries: readonly ConversationMessage[];
  readonly earlier: readonly ConversationMessage[];
  readonly later: readonly ConversationMessage[];
} {
  const inputRow = inputRowOf(parts);
  const living = parts.rows.filter(({ compacted }) => !compacted);
  const isSummary = ({ role, boundary }: ConversationMessage): boolean =>
    role === MessageRole.MESSAGE_ROLE_SYSTEM && !boundary;
  const rest = living.filter((row) => !isSummary(row) && row !== inputRow);
  const isLater = (row: ConversationMessage): boolean =>
    inputRow === undefined ? row.executionId === parts.executionId : row.row > inputRow.row;
  return {
    // A summary is written after rows that it does not stand for.
    summaries: living.filter(isSummary),
    earlier: rest.filter((row) => !isLater(row)),
    later: rest.filter(isLater),
  };
}

function prefillMessage({ role, text }: PrefillMessage): ChatMessage {
  return role === "assistant" ? { role, content: [{ type: "text", text }] } : note(text);
}

function note(text: string): ChatMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

function messagesOf({ row, results }: PairedRow, isThisTurn: boolean): readonly ChatMessage[] {
  switch (row.role) {
    case MessageRole.MESSAGE_ROLE_USER:
      return row.text === "" && row.attachments.length === 0 ? [] : [note(`${attributed(row)}${imagesOf(row)}`)];
    case MessageRole.MESSAGE_ROLE_SYSTEM:
      return [note(`[${row.text}]`)];
    default:
      return [...assistantMessage(row, isThisTurn), ...(results.length === 0 ? [] : [toolMessage(results)])];
  }
}

function assistantMessage(row: ConversationMessage, isThisTurn: boolean): readonly ChatMessage[] {
  const { text, reasoning, toolCalls } = row;
  if (text === "" && toolCalls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: [
        // Endpoints that think want their thoughts back within a turn, and none want those of earlier turns.
        ...(isThisTurn && reasoning !== "" ? [{ type: "reasoning" as const, text: reasoning }] : []),
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...toolCalls.map(({ toolCallId, name, argumentsJson }) => ({
          type: "tool-call" as const,
          toolCallId,
          toolName: name,
          input: argumentsJson,
        })),
      ],
    },
  ];
}

function toolMessage(results: PairedRow["results"]): ChatMessage {
  return {
    role: "tool",
    content: results.map(({ toolCallId, toolName, text }) => ({
      type: "tool-result",
      toolCallId,
      toolName,
      output: { type: "text", value: text },
    })),
  };
}

/** Kinds of authors who are named to the model; a person's words, and the gateway's, stand alone. */
const NAMED: ReadonlySet<AuthorKind> = new Set<AuthorKind>([
  AuthorKind.AUTHOR_KIND_LOCAL_AGENT,
  AuthorKind.AUTHOR_KIND_PEER_AGENT,
  AuthorKind.AUTHOR_KIND_RELAY_AGENT,
]);

/** Images are sent with the turn that they came with only. */
function imagesOf({ attachments: { length } }: ConversationMessage): string {
  return length === 0 ? "" : `\n[with ${String(length)} image${length === 1 ? "" : "s"}, not shown again]`;
}

function attributed({ author, text }: ConversationMessage): string {
  if (author === undefined || !NAMED.has(author.kind)) return text;
  return `Message from ${author.displayName} (@${author.id.replace(/^agent:/, "")}):\n${text}`;
}
