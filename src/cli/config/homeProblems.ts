import type { z } from "zod";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import { gatewayConfigSchema } from "../../base/config/gatewayConfig.js";
import { checkYamlFile, type YamlResult } from "../../base/config/loadYaml.js";
import { readAgents } from "../../base/config/readAgents.js";
import { ConfigError } from "../../base/configError.js";
import type { HomePaths } from "../../base/home.js";
import { isLoopback } from "../../base/loopback.js";

/** What is wrong with the files of a home: its `talaria.yaml`, and its agents' folders. */
export interface HomeProblems {
  readonly gateway: readonly ConfigError[];
  readonly agents: readonly ConfigError[];
  /** The agents that can be used. */
  readonly usable: readonly AgentConfig[];
}

/** What keeps a gateway with a valid configuration from listening, wherever it is started. */
function bindProblems(
  file: string,
  { value, lineOf }: Extract<YamlResult<z.output<typeof gatewayConfigSchema>>, { kind: "valid" }>,
): readonly ConfigError[] {
  const { client_tcp: clients } = value.listeners;
  if (clients === undefined || clients.tls !== undefined || isLoopback(clients.host)) return [];
  const line = lineOf("listeners");
  return [
    new ConfigError({
      file,
      ...(line === undefined ? {} : { line }),
      key: "listeners.client_tcp.host",
      problem: `${clients.host} is beyond this machine, where tokens need TLS`,
      hint: "add tls: {} beside it, or set it to 127.0.0.1",
    }),
  ];
}

/** Reads every file of a home as a gateway would, and names everything that is wrong. */
export function homeProblems(paths: Pick<HomePaths, "configFile" | "agentsDir">): HomeProblems {
  const gateway = checkYamlFile(paths.configFile, gatewayConfigSchema);
  const { agents, invalid, problems } = readAgents(paths.agentsDir);
  return {
    gateway: gateway.kind === "invalid" ? gateway.problems : bindProblems(paths.configFile, gateway),
    agents: [...problems, ...invalid.flatMap((agent) => agent.problems)],
    usable: agents,
  };
}
