import type { AgentConfig } from "../config/agentConfig.js";
import { readAgents } from "../config/readAgents.js";

/**
 * Reads the agents of a home as {@link readAgents} does.
 * @throws ConfigError for the first problem of any of them.
 */
export function loadAgents(agentsDir: string): readonly AgentConfig[] {
  const { agents, invalid, problems } = readAgents(agentsDir);
  const first = problems[0] ?? invalid[0]?.problems[0];
  if (first !== undefined) throw first;
  return agents;
}
