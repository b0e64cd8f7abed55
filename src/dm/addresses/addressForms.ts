import type { AgentEntry, PeerEntry } from "../ports/directory.js";
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

/** Every agent and peer that can be written to, each by a form that works. For errors: at most `limit` of each. */
export function workingForms(neighbourhood: Neighbourhood, limit: number): { agents: string[]; peers: string[] } {
  return {
    agents: neighbourhood.agents
      .filter((agent) => !agent.private && agent.messaging)
      .slice(0, limit)
      .map((agent) => localAddress(agent, neighbourhood)),
    peers: neighbourhood.peers.slice(0, limit).map((peer) => peerAddress(peer, MAIN, neighbourhood)),
  };
}

function firstThat(
  forms: readonly string[],
  neighbourhood: Neighbourhood,
  fits: (resolution: Resolution) => boolean,
): string | undefined {
  return forms.find((form) => fits(resolveTarget(parseTarget(form), neighbourhood)));
}
