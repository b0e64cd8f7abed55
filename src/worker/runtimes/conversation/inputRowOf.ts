import { MessageRole, type ConversationMessage } from "../../../gen/talaria/types/v1/conversation.js";

/** What tells the row of an input. */
export interface InputFacts {
  /** The transcript, with or without its compacted rows. */
  readonly rows: readonly ConversationMessage[];
  /** The execution whose input is answered. */
  readonly executionId: string;
  /** Which attempt at the input this is, from 1. */
  readonly attempt: number;
}

/** The row of the input that is answered; undefined where a summary stands for it. An attempt after the first writes none anew. Pure. */
export function inputRowOf({ rows, executionId, attempt }: InputFacts): ConversationMessage | undefined {
  const isUser = ({ role, compacted }: ConversationMessage): boolean =>
    role === MessageRole.MESSAGE_ROLE_USER && !compacted;
  const own = rows.find((row) => isUser(row) && row.executionId === executionId);
  return own ?? (attempt > 1 ? rows.findLast(isUser) : undefined);
}
