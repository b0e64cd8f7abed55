import { cutToCodePoints } from "../../../base/codePoints.js";
import { MessageRole, type ConversationMessage } from "../../../gen/talaria/types/v1/conversation.js";

/** Longest part of a tool's answer or of a call's arguments that a summary is made from, code points. */
const TOOL_CODE_POINTS = 2_000;
/** Longest part of anybody's words, code points. */
const WORDS_CODE_POINTS = 8_000;

/**
 * Rows as one text for a model that summarises them, at most so many UTF-16 units: where that is not enough room, the beginning and
 * the end are kept. Pure.
 */
export function renderRows(rows: readonly ConversationMessage[], room: number): string {
  const text = rows.map(renderRow).join("\n\n");
  if (text.length <= room) return text;
  const head = Math.floor(room / 4);
  return `${text.slice(0, head)}\n\n[… left out …]\n\n${text.slice(text.length - (room - head))}`;
}

function renderRow(row: ConversationMessage): string {
  switch (row.role) {
    case MessageRole.MESSAGE_ROLE_USER:
      return `${row.author?.displayName ?? "User"}: ${cut(row.text, WORDS_CODE_POINTS)}`;
    case MessageRole.MESSAGE_ROLE_TOOL:
      return `Tool ${row.toolName}: ${cut(row.text, TOOL_CODE_POINTS)}`;
    case MessageRole.MESSAGE_ROLE_ASSISTANT: {
      const calls = row.toolCalls.map(
        ({ name, argumentsJson }) => `[calls ${name} ${cut(argumentsJson, TOOL_CODE_POINTS)}]`,
      );
      return [`Assistant: ${cut(row.text, WORDS_CODE_POINTS)}`, ...calls].join("\n");
    }
    default:
      return `Note: ${cut(row.text, 4 * WORDS_CODE_POINTS)}`;
  }
}

function cut(text: string, codePoints: number): string {
  return cutToCodePoints(text, codePoints, " …");
}
