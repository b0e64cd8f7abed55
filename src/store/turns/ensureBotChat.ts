import type { Tx } from "../sql.js";
import { insertSession } from "./insertSession.js";

/** Title of every agent's canonical session; the title is its identity. Source: DESIGN section 10. */
export const BOT_CHAT_TITLE = "Bot Chat";

/** What {@link ensureBotChat} needs. */
export interface BotChatRequest {
  readonly agent: string;
  /** A fresh id, used if the session must be created. */
  readonly sessionId: string;
  /** The agent's frozen policy, used if the session must be created. */
  readonly policy: Uint8Array;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The id of the agent's `Bot Chat`, which is created if it is missing. */
export function ensureBotChat(tx: Tx, request: BotChatRequest): string {
  const found = tx.get<{ session_id: string }>(
    "SELECT session_id FROM sessions WHERE agent = ? AND bot_chat = 1",
    request.agent,
  );
  if (found) return found.session_id;
  insertSession(tx, {
    sessionId: request.sessionId,
    agent: request.agent,
    title: BOT_CHAT_TITLE,
    botChat: true,
    onUnknown: "continue",
    policy: request.policy,
    now: request.now,
  });
  return request.sessionId;
}
