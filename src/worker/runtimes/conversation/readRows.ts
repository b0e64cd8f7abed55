import type { ConversationMessage } from "../../../gen/talaria/types/v1/conversation.js";
import type { TurnStore } from "../../turnContext.js";

/** Reads the rows of the session that no summary stands for, in order. @throws RpcError. */
export async function readRows(store: Pick<TurnStore, "readConversation">): Promise<ConversationMessage[]> {
  const rows: ConversationMessage[] = [];
  for await (const { messages } of store.readConversation()) rows.push(...messages);
  return rows;
}
