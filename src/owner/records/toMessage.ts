import { type ConversationMessage, MessageRole, type ToolCall } from "../../gen/talaria/types/v1/conversation.js";
import type { TranscriptRow } from "../../store/queries/transcript.js";
import { toAuthor } from "../../rpc/wire/author.js";
import { toTimestamp } from "../../rpc/wire/times.js";

const ROLES: Readonly<Record<TranscriptRow["role"], MessageRole>> = {
  user: MessageRole.MESSAGE_ROLE_USER,
  assistant: MessageRole.MESSAGE_ROLE_ASSISTANT,
  system: MessageRole.MESSAGE_ROLE_SYSTEM,
  tool: MessageRole.MESSAGE_ROLE_TOOL,
};

/** A stored transcript row in the contract's form. */
export function toMessage(row: TranscriptRow): ConversationMessage {
  return {
    row: BigInt(row.row),
    role: ROLES[row.role],
    text: row.text,
    author: toAuthor(row.author),
    toolCalls: row.toolCalls === null ? [] : (JSON.parse(row.toolCalls) as ToolCall[]),
    toolCallId: row.toolCallId ?? "",
    toolName: row.toolName ?? "",
    reasoning: row.reasoning ?? "",
    attachments: [],
    executionId: row.executionId ?? "",
    createdAt: toTimestamp(row.createdAt),
    compacted: row.compacted,
    boundary: row.boundary,
  };
}
