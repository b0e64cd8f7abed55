import { checkDeliveryTool } from "../../dm/tools/checkDeliveryTool.js";
import { messageAgentTool } from "../../dm/tools/messageAgentTool.js";
import { rosterSection } from "../../dm/tools/rosterSection.js";
import type { TurnOffer } from "../../owner/turn/turnParts.js";
import type { GatewayContext } from "../gatewayContext.js";
import { type Elsewhere, listTeammates } from "../messages/teammates.js";

const NOTHING: TurnOffer = { tools: [], rosterInstructions: "", rosterFingerprint: "" };
const MESSAGE_TOOLS: TurnOffer["tools"] = [messageAgentTool, checkDeliveryTool];

/**
 * What an agent is offered in a turn: in its `Bot Chat`, where it may send messages, the tools for that and who can be reached. Made
 * for each turn, so that nothing that rebuilds a tool list can lose it; sending checks the same again.
 */
export function turnOffer(
  { agents, config, peers }: Pick<GatewayContext, "agents" | "config" | "peers">,
  name: string,
  botChat: boolean,
  elsewhere: Elsewhere = {},
): TurnOffer {
  if (!botChat || !config.dm.enabled || agents.get(name)?.messaging !== true) return NOTHING;
  const members = listTeammates(agents.list(), peers.list(), name, elsewhere).map(({ address, gateway, entry }) => ({
    address,
    gateway,
    title: entry?.title ?? "",
    role: entry?.description ?? "",
  }));
  const { instructions, fingerprint } = rosterSection(members);
  return { tools: MESSAGE_TOOLS, rosterInstructions: instructions, rosterFingerprint: fingerprint };
}
