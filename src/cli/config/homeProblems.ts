import type { AgentConfig } from "../../base/config/agentConfig.js";
import { gatewayConfigSchema } from "../../base/config/gatewayConfig.js";
import { checkYamlFile } from "../../base/config/loadYaml.js";
import { readAgents } from "../../base/config/readAgents.js";
import type { ConfigError } from "../../base/configError.js";
import type { HomePaths } from "../../base/home.js";

/** What is wrong with the files of a home: its `talaria.yaml`, and its agents' folders. */
export interface HomeProblems {
  readonly gateway: readonly ConfigError[];
  readonly agents: readonly ConfigError[];
  /** The agents that can be used. */
  readonly usable: readonly AgentConfig[];
}

/** Reads every file of a home as a gateway would, and names everything that is wrong. */
export function homeProblems(paths: Pick<HomePaths, "configFile" | "agentsDir">): HomeProblems {
  const gateway = checkYamlFile(paths.configFile, gatewayConfigSchema);
  const { agents, invalid, problems } = readAgents(paths.agentsDir);
  return {
    gateway: gateway.kind === "invalid" ? gateway.problems : [],
    agents: [...problems, ...invalid.flatMap((agent) => agent.problems)],
    usable: agents,
  };
}
