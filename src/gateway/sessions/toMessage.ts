import { AuthorKind, type Author } from "../../gen/talaria/types/v1/author.js";
import { type ConversationMessage, MessageRole, type ToolCall } from "../../gen/talaria/types/v1/conversation.js";
import type { TranscriptRow } from "../../store/queries/transcript.js";
import type { StoredAuthor, StoredAuthorKind } from "../../store/turns/storedAuthor.js";
import { toTimestamp } from "../edge/timestamp.js";

const ROLES: Readonly<Record<TranscriptRow["role"], MessageRole>> = {
  user: MessageRole.MESSAGE_ROLE_USER,
  assistant: MessageRole.MESSAGE_ROLE_ASSISTANT,
  system: MessageRole.MESSAGE_ROLE_SYSTEM,
  tool: MessageRole.MESSAGE_ROLE_TOOL,
};

const KINDS: Readonly<Record<StoredAuthorKind, AuthorKind>> = {
  client: AuthorKind.AUTHOR_KIND_CLIENT,
  local_agent: AuthorKind.AUTHOR_KIND_LOCAL_AGENT,
  peer_agent: AuthorKind.AUTHOR_KIND_PEER_AGENT,
  relay_agent: AuthorKind.AUTHOR_KIND_RELAY_AGENT,
  gateway: AuthorKind.AUTHOR_KIND_GATEWAY,
};

/** A stored author in the contract's form. */
export function toAuthor(author: StoredAuthor): Author {
  return { kind: KINDS[author.kind], id: author.id, displayName: author.displayName, sentBy: author.sentBy };
}

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
