import { newId } from "../../base/ids.js";
import type { Random } from "../../base/random.js";
import type { BotChatDraft } from "../../store/deliveries/deliveryDraft.js";
import type { TurnPort } from "../ports/turnPort.js";

/** An agent's `Bot Chat`, with what it is created from if it is missing. */
export function botChatOf(agent: string, turns: TurnPort, random: Random): BotChatDraft {
  return { agent, sessionId: newId("ses", random), policy: turns.freezePolicy(agent) };
}
