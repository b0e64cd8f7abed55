import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { ConfigError } from "../configError.js";
import { exceedsCodePoints } from "../codePoints.js";
import type { AgentName } from "../ids.js";
import { parseAgentName } from "../ids.js";
import { readPlainFile } from "../readPlainFile.js";
import type { AgentConfig } from "./agentConfig.js";
import { agentConfigSchema } from "./agentConfigSchema.js";
import { checkYamlFile } from "./loadYaml.js";
import { resolveAgent } from "./resolveAgent.js";

/** An agent whose folder cannot be used. */
export interface InvalidAgent {
  readonly name: AgentName;
  /** The folder. */
  readonly directory: string;
  /** Whether it is the home's main agent: nobody else takes its place. */
  readonly main: boolean;
  /** Everything that is wrong. */
  readonly problems: readonly [ConfigError, ...ConfigError[]];
}

/** What a home's folder of agents holds. */
export interface AgentsRead {
  /** The agents that can be used, by name. */
  readonly agents: readonly AgentConfig[];
  /** Those that cannot, by name. */
  readonly invalid: readonly InvalidAgent[];
  /** What is wrong with folders that are no agent's. */
  readonly problems: readonly ConfigError[];
}

/** Longest `instructions.md`, code points. Source: Policy.instructions. */
const INSTRUCTIONS_LIMIT = 262_144;

type Folder =
  | { readonly kind: "agent"; readonly agent: AgentConfig; readonly mainLine: number | undefined }
  | { readonly kind: "invalid"; readonly agent: InvalidAgent };

/**
 * Reads every `agents/<name>/` that has an `agent.yaml`, in the order of names. Exactly one is the main agent: the one that says so,
 * else the first, whether it can be used or not; a second one that says so is invalid.
 */
export function readAgents(agentsDir: string): AgentsRead {
  if (!existsSync(agentsDir)) return { agents: [], invalid: [], problems: [] };
  const problems: ConfigError[] = [];
  const folders = readdirSync(agentsDir)
    .sort()
    .filter((entry) => existsSync(join(agentsDir, entry, "agent.yaml")))
    .flatMap((entry): Folder[] => {
      const name = parseAgentName(entry);
      if (name !== undefined) return [readAgent(join(agentsDir, entry), name)];
      problems.push(nameProblem(join(agentsDir, entry)));
      return [];
    });
  const main = (folders.find(({ agent }) => agent.main) ?? folders[0])?.agent.name;
  const named = folders.map((folder) => withMain(folder, main));
  return {
    agents: named.flatMap((folder) => (folder.kind === "agent" ? [folder.agent] : [])),
    invalid: named.flatMap((folder) => (folder.kind === "invalid" ? [folder.agent] : [])),
    problems,
  };
}

function withMain(folder: Folder, main: AgentName | undefined): Folder {
  const { agent } = folder;
  const isMain = agent.name === main;
  if (folder.kind === "invalid") return { ...folder, agent: { ...folder.agent, main: isMain } };
  if (isMain || !agent.main) return { ...folder, agent: { ...folder.agent, main: isMain } };
  const file = join(agent.directory, "agent.yaml");
  const problem = `${String(main)} is the main agent already`;
  const error = new ConfigError({ file, ...at(folder.mainLine), key: "main", problem });
  return { kind: "invalid", agent: { name: agent.name, directory: agent.directory, main: false, problems: [error] } };
}

function readAgent(directory: string, name: AgentName): Folder {
  const file = join(directory, "agent.yaml");
  const read = checkYamlFile(file, agentConfigSchema);
  const instructions = readInstructions(directory);
  const problems = [
    ...(read.kind === "invalid" ? read.problems : []),
    ...(read.kind === "valid" && read.value.name !== undefined && read.value.name !== name
      ? [nameMismatch(file, read.lineOf("name"), name)]
      : []),
    ...(instructions instanceof ConfigError ? [instructions] : []),
  ];
  const [first, ...rest] = problems;
  if (first === undefined && read.kind === "valid" && typeof instructions === "string") {
    const agent = resolveAgent(read.value, directory, name, instructions);
    return { kind: "agent", agent, mainLine: read.lineOf("main") };
  }
  const main = read.kind === "valid" ? read.value.main : saysMain(read.raw);
  const unusable = first ?? new ConfigError({ file, problem: "is not valid" });
  return { kind: "invalid", agent: { name, directory, main, problems: [unusable, ...rest] } };
}

function nameMismatch(file: string, line: number | undefined, name: AgentName): ConfigError {
  const problem = `is not the folder's name, ${name}`;
  return new ConfigError({ file, ...at(line), key: "name", problem, hint: "leave it out" });
}

function at(line: number | undefined): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

function saysMain(raw: unknown): boolean {
  return typeof raw === "object" && raw !== null && "main" in raw && raw.main === true;
}

function nameProblem(folder: string): ConfigError {
  return new ConfigError({
    file: folder,
    problem: "an agent's folder must match [a-z0-9][a-z0-9_-]{0,63}",
    hint: "rename the folder",
  });
}

function readInstructions(directory: string): string | ConfigError {
  const file = join(directory, "instructions.md");
  if (!existsSync(file)) return "";
  if (!statSync(file).isFile()) return new ConfigError({ file, problem: "is not a file" });
  try {
    // A code point has four bytes at most.
    const found = readPlainFile(file, 4 * INSTRUCTIONS_LIMIT);
    const text = found.kind === "read" ? found.bytes.toString("utf8") : undefined;
    if (text !== undefined && !exceedsCodePoints(text, INSTRUCTIONS_LIMIT)) return text;
    return new ConfigError({ file, problem: `has more than ${String(INSTRUCTIONS_LIMIT)} characters` });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    return new ConfigError({ file, problem: `cannot be read: ${code}` }, { cause });
  }
}
