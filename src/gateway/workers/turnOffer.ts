import type { TurnOffer } from "../../owner/turn/turnParts.js";
import { rosterFingerprint } from "../../dm/addresses/roster.js";
import type { GatewayContext } from "../gatewayContext.js";
import { listTeammates } from "../messages/teammates.js";

const NOTHING: TurnOffer = { tools: [], rosterInstructions: "", rosterFingerprint: "" };

/** The tool that sends a message from a turn, and the one that looks at what became of it. */
const MESSAGE_TOOLS: TurnOffer["tools"] = [
  {
    name: "message_agent",
    description:
      "Sends a message to another agent. It answers at once with a delivery id; the reply comes later, as an input of its own.",
    parametersJsonSchema: JSON.stringify({
      type: "object",
      properties: {
        target: { type: "string", description: "Whom to: an address of the list of teammates." },
        message: { type: "string", description: "What to say, at most 16,000 characters." },
      },
      required: ["target", "message"],
      additionalProperties: false,
    }),
  },
  {
    name: "check_delivery",
    description: "Looks at a message that was sent before: whether it waits, runs or has been answered, and how.",
    parametersJsonSchema: JSON.stringify({
      type: "object",
      properties: { delivery_id: { type: "string", description: "The delivery id that message_agent answered with." } },
      required: ["delivery_id"],
      additionalProperties: false,
    }),
  },
];

/** What an agent is offered in a turn: in its `Bot Chat`, where it may send messages, the tools for that and who can be reached. */
export function turnOffer(
  { agents, config, peers }: Pick<GatewayContext, "agents" | "config" | "peers">,
  name: string,
  botChat: boolean,
): TurnOffer {
  if (!botChat || !config.dm.enabled || agents.get(name)?.messaging !== true) return NOTHING;
  const teammates = listTeammates(agents.list(), peers.list(), name);
  const entries = teammates.flatMap(({ address, entry }) => (entry === undefined ? [] : [{ ...entry, name: address }]));
  if (entries.length === 0) return { ...NOTHING, tools: MESSAGE_TOOLS };
  const lines = entries.map(({ name: address, title, description }) => {
    const about = [title, description].filter((text) => text !== "").join(": ");
    return about === "" ? `- ${address}` : `- ${address} (${about})`;
  });
  return {
    tools: MESSAGE_TOOLS,
    rosterInstructions: `Teammates that message_agent reaches:\n${lines.join("\n")}`,
    rosterFingerprint: rosterFingerprint(entries),
  };
}
