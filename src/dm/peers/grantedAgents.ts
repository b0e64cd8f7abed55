import { MAIN } from "../addresses/resolveTarget.js";
import type { AgentEntry, PeerEntry } from "../ports/directory.js";

/** The agents of this gateway that a peer may reach; for it the others do not exist. `main` in its grants means the main agent. */
export function grantedAgents(
  peer: Pick<PeerEntry, "grants"> | undefined,
  agents: readonly AgentEntry[],
): readonly AgentEntry[] {
  const grants = peer?.grants;
  if (grants === undefined) return agents;
  return agents.filter(({ name, main }) => grants.includes(name) || (main && grants.includes(MAIN)));
}
