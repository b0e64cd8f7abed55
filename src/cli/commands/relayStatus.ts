import { DeliveryRoute, DeliveryState, type Delivery } from "../../gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../../gen/talaria/dm/v1/direct_message_service.js";
import { Liveness, RosterEntry } from "../../gen/talaria/dm/v1/roster.js";
import {
  AdminServiceService,
  type Destination,
  Peer,
  peerLinkToJSON,
} from "../../gen/talaria/gateway/v1/admin_service.js";
import { AgentServiceService } from "../../gen/talaria/gateway/v1/agent_service.js";
import { pages } from "../../rpc/clients/pages.js";
import { fromTimestamp } from "../../rpc/wire/times.js";
import type { CommandContext } from "../commandContext.js";
import type { GatewayClient } from "../gatewayClient.js";
import { failureText } from "../render/failureText.js";
import { localTime, shortName } from "../render/names.js";
import { table } from "../render/table.js";

/** Shows the connectors of a gateway: whether each is there, which agents it has brought, what waits for it and what it holds under lease. */
export async function relayStatus(context: CommandContext): Promise<void> {
  const gateway = await context.gateway();
  const [{ peers }, { destinations }, { teammates }] = await Promise.all([
    gateway.call(AdminServiceService.listPeers, {}),
    gateway.call(AdminServiceService.listDestinations, {}),
    gateway.call(AgentServiceService.listTeammates, { agent: "" }),
  ]);
  const connectors = await Promise.all(
    peers
      .filter(({ connector }) => connector)
      .map(async (peer) => ({
        peer,
        destination: destinations.find(({ name }) => name === peer.name),
        agents: teammates.flatMap(({ gateway: at, entry }) => (at === peer.name && entry !== undefined ? [entry] : [])),
        leased: await leasedTo(gateway, peer.name),
      })),
  );
  context.print(
    connectors.map(({ peer, destination, agents, leased }) => ({
      ...(Peer.toJSON(peer) as object),
      published: agents.map((entry) => RosterEntry.toJSON(entry)),
      waiting: Number(destination?.waiting ?? 0n),
      leased: leased.map(({ deliveryId }) => deliveryId),
    })),
    (columns) => (connectors.length === 0 ? NONE : table(HEAD, connectors.map(row), columns)),
  );
}

const NONE = "There are no connectors. Invite one with: talaria peers invite --connector";
const HEAD = [
  "CONNECTOR",
  "LINK",
  "LAST SEEN",
  "AGENTS THERE",
  "WAITING",
  "LEASED",
  "OLDEST LEASE",
  "HELD BY",
  "LAST ERROR",
];

interface Connector {
  readonly peer: Peer;
  readonly destination: Destination | undefined;
  /** What it has published. */
  readonly agents: readonly RosterEntry[];
  /** What it has taken and not answered. */
  readonly leased: readonly Delivery[];
}

function row({ peer, destination, agents, leased }: Connector): readonly string[] {
  const oldest = leased.reduce<Delivery | undefined>(
    (first, delivery) => (first === undefined || claimedMs(delivery) < claimedMs(first) ? delivery : first),
    undefined,
  );
  return [
    peer.name,
    shortName(peerLinkToJSON(peer.link), "PEER_LINK_"),
    localTime(peer.lastSeenAt),
    agents.map(agentThere).join(","),
    String(destination?.waiting ?? 0n),
    String(leased.length),
    localTime(oldest?.claimedAt),
    destination?.heldBy ?? "",
    failureText(peer.lastError),
  ];
}

/** An agent's name, which is checked, with what is known of whether it is there. */
function agentThere({ name, liveness }: RosterEntry): string {
  return liveness === Liveness.LIVENESS_OFFLINE ? `${name} (away)` : name;
}

function claimedMs({ claimedAt }: Delivery): number {
  return fromTimestamp(claimedAt) ?? Number.POSITIVE_INFINITY;
}

async function leasedTo(gateway: GatewayClient, name: string): Promise<readonly Delivery[]> {
  const found: Delivery[] = [];
  const read = (pageToken: string) =>
    gateway.call(DirectMessageServiceService.listDeliveries, {
      pageSize: 100,
      pageToken,
      states: [DeliveryState.DELIVERY_STATE_CLAIMED],
      agent: "",
      gateway: name,
    });
  for await (const { deliveries } of pages(read)) found.push(...deliveries);
  return found.filter(({ route }) => route === DeliveryRoute.DELIVERY_ROUTE_RELAY_OUTBOUND);
}
