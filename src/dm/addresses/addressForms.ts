import type { AgentEntry, PeerEntry } from "../ports/directory.js";
import { relayAddress } from "./resolveRelay.js";
import { MAIN, resolveTarget, type Neighbourhood, type Resolution } from "./resolveTarget.js";
import { parseTarget } from "./targetGrammar.js";

/** Shortest target that names an agent of this gateway and nobody else. Does not depend on the order of rosters. */
export function localAddress(agent: AgentEntry, neighbourhood: Neighbourhood): string {
  const names = (resolution: Resolution): boolean =>
    resolution.kind === "local" && resolution.agent.name === agent.name;
  return firstThat([agent.name], neighbourhood, names) ?? `agent:${agent.name}`;
}

/** Shortest target that names an agent of a peer and nobody else. */
export function peerAddress(peer: PeerEntry, agent: string, neighbourhood: Neighbourhood): string {
  const names = (resolution: Resolution): boolean =>
    resolution.kind === "peer" && resolution.peer.name === peer.name && resolution.agent === agent;
  return firstThat(agent === MAIN ? [peer.name] : [], neighbourhood, names) ?? `${peer.name}/${agent}`;
}

/**
 * Every agent, peer and agent behind a connector that can be written to, each by a form that works. For errors: at most `limit`
 * of each.
 * @param sender name of the local agent that asks and cannot write to itself
 */
export function workingForms(
  neighbourhood: Neighbourhood,
  limit: number,
  sender?: string,
): { agents: string[]; peers: string[]; relays: string[] } {
  return {
    agents: neighbourhood.agents
      .filter((agent) => !agent.private && agent.messaging && agent.name !== sender)
      .slice(0, limit)
      .map((agent) => localAddress(agent, neighbourhood)),
    peers: neighbourhood.peers.slice(0, limit).map((peer) => peerAddress(peer, MAIN, neighbourhood)),
    relays: (neighbourhood.relays ?? [])
      .flatMap(({ connector, rows }) => rows.map(({ name }) => relayAddress(connector, name)))
      .slice(0, limit),
  };
}

function firstThat(
  forms: readonly string[],
  neighbourhood: Neighbourhood,
  fits: (resolution: Resolution) => boolean,
): string | undefined {
  return forms.find((form) => fits(resolveTarget(parseTarget(form), neighbourhood)));
}
