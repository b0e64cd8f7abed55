import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

import { ConfigError } from "../configError.js";
import type { AgentName } from "../ids.js";
import { parseAgentName } from "../ids.js";
import type { AgentConfig } from "./agentConfig.js";
import { agentConfigSchema } from "./agentConfig.js";
import { loadYaml } from "./loadYaml.js";

/**
 * Reads every `agents/<name>/` that has an `agent.yaml`, in the order of names. Exactly one is the main agent: the one
 * that says so, else the first.
 * @throws ConfigError for what cannot be used, and where two say that they are the main agent.
 */
export function loadAgents(agentsDir: string): readonly AgentConfig[] {
  if (!existsSync(agentsDir)) return [];
  const agents = readdirSync(agentsDir)
    .sort()
    .filter((entry) => existsSync(join(agentsDir, entry, "agent.yaml")))
    .map((entry) => loadAgent(join(agentsDir, entry), nameOf(agentsDir, entry)));
  const [main, second] = agents.filter((agent) => agent.main);
  if (main && second) {
    throw new ConfigError({
      file: join(second.directory, "agent.yaml"),
      key: "main",
      problem: `${main.name} is the main agent already`,
    });
  }
  return main ? agents : agents.map((agent, index) => (index === 0 ? { ...agent, main: true } : agent));
}

/**
 * Reads one agent's folder.
 * @throws ConfigError for what cannot be used.
 */
export function loadAgent(directory: string, name: AgentName): AgentConfig {
  const written = loadYaml(join(directory, "agent.yaml"), agentConfigSchema);
  const limits = written.limits;
  const hooks = written.hooks;
  return {
    name,
    directory,
    title: written.title ?? name,
    description: written.description,
    main: written.main,
    runtime: written.runtime,
    ...defined("model", written.model),
    ...defined("baseUrl", written.base_url),
    ...defined("apiKeyFile", written.api_key_file === undefined ? undefined : within(directory, written.api_key_file)),
    ...defined("apiKeyEnv", written.api_key_env),
    fallbackModels: written.fallback_models,
    ...defined("reasoning", written.reasoning),
    ...defined("tools", written.tools),
    mcpServers: written.mcp_servers,
    ...defined("workerCommand", written.worker.command),
    workerEnv: written.worker.env,
    private: written.private,
    messaging: written.messaging,
    approvals: written.approvals,
    limits: {
      ...defined("turnLimitMs", limits.turn_limit_ms),
      ...defined("noProgressMs", limits.no_progress_ms),
      ...defined("memoryMib", limits.memory_mib),
    },
    hooks: { ...defined("beforeTurn", hooks.before_turn), ...defined("afterTurn", hooks.after_turn) },
    instructions: readInstructions(directory),
  };
}

function nameOf(agentsDir: string, entry: string): AgentName {
  const name = parseAgentName(entry);
  if (name !== undefined) return name;
  throw new ConfigError({
    file: join(agentsDir, entry),
    problem: "an agent's folder must match [a-z0-9][a-z0-9_-]{0,63}",
    hint: "rename the folder",
  });
}

function readInstructions(directory: string): string {
  const file = join(directory, "instructions.md");
  if (!existsSync(file)) return "";
  if (!statSync(file).isFile()) throw new ConfigError({ file, problem: "is not a file" });
  return readFileSync(file, "utf8");
}

function within(directory: string, path: string): string {
  return isAbsolute(path) ? path : join(directory, path);
}

/** `{ [key]: value }`, or nothing for undefined, as exact optional properties want it. */
function defined<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}
