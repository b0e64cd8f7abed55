import { MessageRole, type ConversationMessage } from "../../../gen/talaria/types/v1/conversation.js";

/** What a tool answered to a call. */
export interface PairedResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly text: string;
}

/** A row with the answers to the calls that it asks for, in the order of the calls. */
export interface PairedRow {
  readonly row: ConversationMessage;
  readonly results: readonly PairedResult[];
}

/** What a call without an answer is answered with. */
export const NO_RESULT = "The call was broken off; it is not known whether it had an effect.";

/**
 * Puts the answers of tools behind the rows that asked for them: every call gets exactly one, a made one where the worker was lost
 * before its tool had answered, and an answer that nobody asked for goes. Pure.
 */
export function pairToolCalls(rows: readonly ConversationMessage[]): readonly PairedRow[] {
  const paired: PairedRow[] = [];
  for (const [index, row] of rows.entries()) {
    if (row.role === MessageRole.MESSAGE_ROLE_TOOL) continue;
    const answers = answersAfter(rows, index);
    const results = row.toolCalls.map(({ toolCallId, name }) => ({
      toolCallId,
      toolName: name,
      text: answers.find((answer) => answer.toolCallId === toolCallId)?.text ?? NO_RESULT,
    }));
    paired.push({ row, results });
  }
  return paired;
}

/** The tools' rows directly behind a row. */
function answersAfter(rows: readonly ConversationMessage[], index: number): readonly ConversationMessage[] {
  const after = rows.slice(index + 1);
  const end = after.findIndex(({ role }) => role !== MessageRole.MESSAGE_ROLE_TOOL);
  return end < 0 ? after : after.slice(0, end);
}
