import { ConversationMessage, MessageRole } from "../../../gen/talaria/types/v1/conversation.js";
import type { EchoTurn } from "./echoTurn.js";
import { refusalOf } from "./messageSteps.js";

/** Names the session; a refusal is an answer. */
export async function setTitle({ context }: EchoTurn, title: string): Promise<string> {
  try {
    await context.store.persist({ $case: "setTitle", value: { title } });
    return `title: ${title}`;
  } catch (error) {
    return `title: refused ${refusalOf(error)}`;
  }
}

/** Adds an assistant's row; a refusal is an answer. */
export async function appendRow({ context }: EchoTurn, text: string): Promise<string> {
  const row = ConversationMessage.fromPartial({ role: MessageRole.MESSAGE_ROLE_ASSISTANT, text });
  try {
    const { firstRow } = await context.store.persist({ $case: "appendMessages", value: { messages: [row] } });
    return `appended: row ${String(firstRow)}`;
  } catch (error) {
    return `appended: refused ${refusalOf(error)}`;
  }
}

/** Reads the transcript. */
export async function readHistory({ context }: EchoTurn): Promise<string> {
  let rows = 0;
  let lastUser = "";
  for await (const { messages } of context.store.readConversation()) {
    rows += messages.length;
    lastUser = messages.findLast(({ role }) => role === MessageRole.MESSAGE_ROLE_USER)?.text ?? lastUser;
  }
  return `history: ${String(rows)} rows, last user: ${lastUser}`;
}
