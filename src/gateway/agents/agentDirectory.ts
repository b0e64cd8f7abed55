import type { AgentConfig } from "../../base/config/agentConfig.js";
import { reasonError } from "../../rpc/rpcError.js";

/** The agents of this home. */
export interface AgentDirectory {
  /** Every agent, by name. */
  list(): readonly AgentConfig[];
  /** The agent of that name; undefined where there is none. */
  get(name: string): AgentConfig | undefined;
  /** The agent of that name. @throws RpcError UNKNOWN_AGENT. */
  require(name: string): AgentConfig;
}

/** Looks agents up among those that were read from the home. */
export function createAgentDirectory(agents: readonly AgentConfig[]): AgentDirectory {
  const byName = new Map<string, AgentConfig>(agents.map((agent) => [agent.name, agent]));
  const sorted = [...agents].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    list: () => sorted,
    get: (name) => byName.get(name),
    require(name) {
      const agent = byName.get(name);
      if (agent === undefined) throw reasonError("UNKNOWN_AGENT", { agent: name });
      return agent;
    },
  };
}
