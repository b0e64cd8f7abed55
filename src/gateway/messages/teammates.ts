import type { AgentEntry, PeerEntry } from "../../dm/ports/directory.js";
import { localAddress, peerAddress } from "../../dm/addresses/addressForms.js";
import { MAIN } from "../../dm/addresses/resolveTarget.js";
import { relayAddress } from "../../dm/addresses/resolveRelay.js";
import { rosterOf } from "../../dm/addresses/roster.js";
import type { RelayNamespace } from "../../dm/relay/relayRosters.js";
import type { RelayRow } from "../../dm/relay/relayRow.js";
import { Liveness } from "../../gen/talaria/dm/v1/roster.js";
import type { Teammate } from "../../gen/talaria/gateway/v1/agent_service.js";

/**
 * Everyone that can be sent to from here, local agents first, each with the shortest form that reaches it. Of a peer the agents
 * that the configuration names are listed, else its main agent; of a connector what it has published.
 * @param asking the agent that asks and is left out; undefined for a client
 */
export function listTeammates(
  agents: readonly AgentEntry[],
  peers: readonly PeerEntry[],
  asking: string | undefined,
  relays: readonly RelayNamespace[] = [],
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
  const far = peers.flatMap((peer) =>
    (peer.agents ?? [MAIN]).map((name): Teammate => {
      const address = peerAddress(peer, name, neighbourhood);
      const entry = { name, handle: name, title: "", description: "", main: name === MAIN, address };
      return { address, gateway: peer.name, entry: { ...entry, liveness: Liveness.LIVENESS_UNSPECIFIED } };
    }),
  );
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

const WIRE_LIVENESS: Readonly<Record<RelayRow["liveness"], Liveness>> = {
  online: Liveness.LIVENESS_ONLINE,
  offline: Liveness.LIVENESS_OFFLINE,
  unknown: Liveness.LIVENESS_UNSPECIFIED,
};
