import { reasonError } from "../../rpc/rpcError.js";
import type { DeliveryDraft } from "../../store/deliveries/deliveryDraft.js";
import type { DeliveryRoute } from "../../store/deliveries/storedDelivery.js";
import { resolveTarget, type Neighbourhood } from "../addresses/resolveTarget.js";
import { parseTarget, type ParsedTarget } from "../addresses/targetGrammar.js";
import { grantedAgents } from "../peers/grantedAgents.js";
import { relayLifeMs } from "../relay/relayLife.js";
import { botChatOf } from "./botChatOf.js";
import type { DoorOptions } from "./doorOptions.js";
import type { IncomingMessage } from "./origin.js";
import { ambiguousTarget, undiallablePeer, unknownPeer, unknownTarget } from "./refusals.js";
import type { Sender } from "./sender.js";

/** Who a message goes to, and by which way. */
export type Recipient = Pick<DeliveryDraft, "route" | "recipientGateway" | "recipientAgent" | "recipientName"> &
  Partial<Pick<DeliveryDraft, "recipientChat" | "expiresAt">>;

/**
 * Finds who a message is for among those whom its origin may reach.
 * @throws RpcError UNKNOWN_TARGET, UNKNOWN_PEER, AMBIGUOUS_TARGET, TARGET_OFFLINE, TARGET_SELF or MESSAGING_DISABLED.
 */
export function resolveRecipient(
  { target, origin }: IncomingMessage,
  sender: Sender,
  neighbourhood: Neighbourhood,
  { turns, random, peers, connectors, clock, budgets }: DoorOptions,
): Recipient {
  // A peer or connector reaches the agents of this gateway alone: messages do not pass through.
  const reachable =
    origin.kind === "peer"
      ? {
          agents: grantedAgents((origin.relay ? connectors : peers).get(origin.peer), neighbourhood.agents),
          peers: [],
        }
      : neighbourhood;
  const parsed: ParsedTarget =
    origin.kind === "peer" ? { kind: "local", name: target.toLowerCase() } : parseTarget(target);
  const resolution = resolveTarget(parsed, reachable);
  switch (resolution.kind) {
    case "unknown":
      throw unknownTarget(target, reachable, sender.agent?.name);
    case "unknownPeer":
      throw origin.kind === "peer"
        ? unknownTarget(target, reachable)
        : unknownPeer(resolution.peer, reachable, sender.agent?.name);
    case "ambiguous":
      throw ambiguousTarget(target, resolution.forms);
    case "relayOffline":
      throw reasonError("TARGET_OFFLINE", undefined, { metadata: { connector: resolution.connector } });
    case "relay":
      return {
        route: "relay_outbound",
        recipientGateway: resolution.connector,
        recipientAgent: resolution.agent,
        recipientName: resolution.title,
        expiresAt: clock.now() + relayLifeMs(budgets),
      };
    case "peer": {
      const { peer, agent } = resolution;
      if (peer.address === "") throw undiallablePeer(peer.name);
      return {
        route: "peer_outbound",
        recipientGateway: peer.name,
        recipientAgent: agent,
        recipientName: agent === "main" ? peer.name : agent,
      };
    }
    case "local": {
      const { name, title, messaging } = resolution.agent;
      if (name === sender.agent?.name) throw reasonError("TARGET_SELF");
      if (!messaging) throw reasonError("MESSAGING_DISABLED");
      const route: DeliveryRoute = origin.kind !== "peer" ? "local" : origin.relay ? "relay_inbound" : "peer_inbound";
      return {
        route,
        recipientGateway: "",
        recipientAgent: name,
        recipientName: title,
        recipientChat: botChatOf(name, turns, random),
      };
    }
  }
}
