import {
  AdminServiceService,
  CreateInviteResponse,
  Peer,
  peerLinkToJSON,
} from "../../gen/talaria/gateway/v1/admin_service.js";
import type { CommandContext } from "../commandContext.js";
import { clockText } from "../render/clockText.js";
import { failureText } from "../render/failureText.js";
import { localTime, shortName } from "../render/names.js";
import { table } from "../render/table.js";

/** An invite as asked for. */
export interface InviteOptions {
  readonly name?: string;
  readonly address?: string;
  readonly agent?: readonly string[];
  readonly connector?: boolean;
}

/** Makes an invite and prints its code; it is shown this once. */
export async function peersInvite(context: CommandContext, options: InviteOptions): Promise<void> {
  const gateway = await context.gateway();
  const response = await gateway.call(AdminServiceService.createInvite, {
    requestId: context.newRequestId(),
    name: options.name ?? "",
    address: options.address ?? "",
    agents: [...(options.agent ?? [])],
    connector: options.connector ?? false,
  });
  context.print(CreateInviteResponse.toJSON(response), () => response.code);
  if (!context.json) {
    context.terminal.err(
      `Good once, until ${localTime(response.expiresAt)}. On the other gateway: talaria peers join CODE`,
    );
  }
}

/** Redeems an invite's code. */
export async function peersJoin(context: CommandContext, code: string, { name = "" }: { readonly name?: string }) {
  const gateway = await context.gateway();
  const { peer } = await gateway.call(AdminServiceService.joinPeer, { requestId: context.newRequestId(), code, name });
  if (peer !== undefined) context.print(Peer.toJSON(peer), () => `${peer.name} ${peer.address} ${peer.pin}`);
}

/** Lists peers and connectors. */
export async function peersList(context: CommandContext): Promise<void> {
  const gateway = await context.gateway();
  const { peers } = await gateway.call(AdminServiceService.listPeers, {});
  context.print(
    peers.map((peer) => Peer.toJSON(peer)),
    (columns) =>
      table(
        ["PEER", "ADDRESS", "LINK", "MAY REACH", "AGENTS THERE", "PAIRED", "CLOCK", "LAST ERROR"],
        peers.map((peer) => [
          peer.name,
          peer.connector ? "(connector)" : peer.address,
          shortName(peerLinkToJSON(peer.link), "PEER_LINK_"),
          peer.agents.length === 0 ? "all" : peer.agents.join(","),
          agentsThere(peer.roster),
          peer.pairedAt === undefined ? "configured" : localTime(peer.pairedAt),
          clockText(peer.clock),
          failureText(peer.lastError),
        ]),
        columns,
      ),
  );
}

/** The first agents of a roster, by name: names are checked, titles are another machine's text. */
function agentsThere(roster: Peer["roster"]): string {
  const names = roster.slice(0, LISTED).map(({ name }) => name);
  return roster.length > LISTED ? `${names.join(",")},… ${String(roster.length)} in all` : names.join(",");
}

/** Agents of a roster that a line has room for. */
const LISTED = 8;

/** A change of a peer as asked for. */
export interface PeerUpdateOptions {
  readonly address?: string;
  readonly agent?: readonly string[];
  readonly allAgents?: boolean;
}

/** Changes a peer's address or the agents that it may reach. */
export async function peersUpdate(context: CommandContext, name: string, options: PeerUpdateOptions): Promise<void> {
  const gateway = await context.gateway();
  const { peer } = await gateway.call(AdminServiceService.updatePeer, {
    requestId: context.newRequestId(),
    name,
    address: options.address ?? "",
    setAgents: options.agent !== undefined || options.allAgents === true,
    agents: options.allAgents === true ? [] : [...(options.agent ?? [])],
  });
  if (peer !== undefined) context.print(Peer.toJSON(peer), () => `${peer.name} ${peer.address}`);
}

/** Ends a pairing. */
export async function peersRevoke(context: CommandContext, name: string): Promise<void> {
  const gateway = await context.gateway();
  const response = await gateway.call(AdminServiceService.revokePeer, { requestId: context.newRequestId(), name });
  context.print(response, () => `${name} is revoked; connections cut: ${String(response.connectionsCut)}`);
}
