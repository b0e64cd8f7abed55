import type { AgentEntry, PeerEntry } from "../../dm/ports/directory.js";
import { localAddress, peerAddress } from "../../dm/addresses/addressForms.js";
import { MAIN } from "../../dm/addresses/resolveTarget.js";
import { relayAddress } from "../../dm/addresses/resolveRelay.js";
import { rosterOf } from "../../dm/addresses/roster.js";
import type { PeerRoster } from "../../dm/peers/peerRosters.js";
import type { RelayNamespace } from "../../dm/relay/relayRosters.js";
import type { RelayRow } from "../../dm/relay/relayRow.js";
import { Liveness } from "../../gen/talaria/dm/v1/roster.js";
import type { Teammate } from "../../gen/talaria/gateway/v1/agent_service.js";

/** What is known of those who can be sent to elsewhere. */
export interface Elsewhere {
  /** Agents behind connectors. */
  readonly relays?: readonly RelayNamespace[];
  /** What a peer has said of its agents. */
  readonly rosterOf?: (peer: string) => PeerRoster | undefined;
  /** Whether a peer can be reached: undefined where nothing is known. */
  readonly isReachable?: (peer: string) => boolean | undefined;
}

/**
 * Everyone that can be sent to from here, local agents first, each with the shortest form that reaches it. Of a peer its main agent
 * is listed and the agents that it has said it has, of those the ones that the configuration names where it names any; of
 * a connector what it has published. Does not depend on the order of rosters.
 * @param asking the agent that asks and is left out; undefined for a client
 */
export function listTeammates(
  agents: readonly AgentEntry[],
  peers: readonly PeerEntry[],
  asking: string | undefined,
  { relays = [], rosterOf: rosterOfPeer = () => undefined, isReachable = () => undefined }: Elsewhere = {},
): readonly Teammate[] {
  const neighbourhood = { agents, peers };
  const local = rosterOf(agents)
    .filter(({ name }) => name !== asking)
    .flatMap((entry): readonly Teammate[] => {
      const agent = agents.find(({ name }) => name === entry.name);
      if (agent === undefined) return [];
      const address = localAddress(agent, neighbourhood);
      return [{ address, gateway: "", entry: { ...entry, address } }];
    });
  const far = peers.flatMap((peer) => {
    const roster = rosterOfPeer(peer.name);
    const liveness = livenessOf(roster, isReachable(peer.name));
    return agentsOfPeer(peer, roster).map(({ word, row }): Teammate => {
      const address = peerAddress(peer, word, neighbourhood);
      const { name = word, title = "", description = "" } = row ?? {};
      const entry = {
        name,
        handle: word,
        title: title === name ? "" : title,
        description,
        main: word === MAIN,
        address,
      };
      return { address, gateway: peer.name, entry: { ...entry, liveness } };
    });
  });
  const behind = relays.flatMap(({ connector, rows, fresh }) =>
    rows.map((row): Teammate => {
      const address = relayAddress(connector, row.name);
      const { name, handle, title, description, main } = row;
      const liveness = fresh ? WIRE_LIVENESS[row.liveness] : Liveness.LIVENESS_UNSPECIFIED;
      return { address, gateway: connector, entry: { name, handle, title, description, main, liveness, address } };
    }),
  );
  return [...local, ...far, ...behind];
}

/** The agents of a peer, its main agent first, each with the word that stands for it behind the peer's name. */
function agentsOfPeer(
  { agents }: PeerEntry,
  roster: PeerRoster | undefined,
): readonly { readonly word: string; readonly row?: RelayRow }[] {
  const rows = roster?.rows ?? [];
  const main = rows.find((row) => row.main);
  const first = { word: MAIN, ...(main === undefined ? {} : { row: main }) };
  // Another agent that calls itself so would be reached by nothing: the word means the main agent.
  const others = rows.filter((row) => row !== main && row.name !== MAIN).map((row) => ({ word: row.name, row }));
  if (agents === undefined) return [first, ...others];
  return agents.map((name) => (name === MAIN ? first : (others.find(({ word }) => word === name) ?? { word: name })));
}

/** Whether a peer's agents can be reached, as far as is known: an old roster says nothing of today. */
function livenessOf(roster: PeerRoster | undefined, reachable: boolean | undefined): Liveness {
  if (reachable === false) return Liveness.LIVENESS_OFFLINE;
  return reachable === true && roster?.fresh === true ? Liveness.LIVENESS_ONLINE : Liveness.LIVENESS_UNSPECIFIED;
}

const WIRE_LIVENESS: Readonly<Record<RelayRow["liveness"], Liveness>> = {
  online: Liveness.LIVENESS_ONLINE,
  offline: Liveness.LIVENESS_OFFLINE,
  unknown: Liveness.LIVENESS_UNSPECIFIED,
};
