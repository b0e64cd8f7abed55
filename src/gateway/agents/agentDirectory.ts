import type { AgentConfig } from "../../base/config/agentConfig.js";
import type { AgentsRead, InvalidAgent } from "../../base/config/readAgents.js";
import type { ConfigError } from "../../base/configError.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";

/** The agents of this home, as its files were when they were last read. */
export interface AgentDirectory {
  /** Every agent that can be used, by name. */
  list(): readonly AgentConfig[];
  /** Every agent whose files cannot be used, by name: it is known and takes no work. */
  invalid(): readonly InvalidAgent[];
  /** Everything that is wrong in the files, one error a mistake. */
  problems(): readonly ConfigError[];
  /** The agent of that name; undefined where there is none that can be used. */
  get(name: string): AgentConfig | undefined;
  /** The agent of that name. @throws RpcError UNKNOWN_AGENT; AGENT_INVALID with file, line and key. */
  require(name: string): AgentConfig;
  /** Takes what was read in the place of what was known. @returns what differs. */
  replace(read: AgentsRead): AgentChanges;
}

/** Names of the agents that differ after a reading, each in one list. */
export interface AgentChanges {
  readonly added: readonly string[];
  /** Those whose files have changed: sessions that exist keep their policy. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Looks agents up among those that were read from the home. */
export function createAgentDirectory(
  agents: readonly AgentConfig[],
  invalid: readonly InvalidAgent[] = [],
  problems: readonly ConfigError[] = [],
): AgentDirectory {
  let known = indexOf({ agents, invalid, problems });
  return {
    list: () => known.agents,
    invalid: () => known.invalid,
    problems: () => [...known.problems, ...known.invalid.flatMap((agent) => agent.problems)],
    get: (name) => known.usable.get(name),
    require(name) {
      const agent = known.usable.get(name);
      if (agent !== undefined) return agent;
      const broken = known.invalid.find((one) => one.name === name);
      throw broken === undefined ? reasonError("UNKNOWN_AGENT", { agent: name }) : agentInvalid(broken.problems[0]);
    },
    replace(read) {
      const before = known;
      known = indexOf(read);
      const names = (of: typeof known): string[] => [...of.texts.keys()];
      return {
        added: names(known).filter((name) => !before.texts.has(name)),
        changed: names(known).filter((name) => {
          const text = before.texts.get(name);
          return text !== undefined && text !== known.texts.get(name);
        }),
        removed: names(before).filter((name) => !known.texts.has(name)),
      };
    },
  };
}

/** The error for an agent, or a folder of one, that cannot be used. */
export function agentInvalid(problem: ConfigError): RpcError {
  const { file, line, key, hint } = problem;
  return new RpcError("AGENT_INVALID", {
    message: hint === undefined ? problem.message : problem.message.replace(` (${hint})`, ""),
    ...(hint === undefined ? {} : { hint: `${hint.slice(0, 1).toUpperCase()}${hint.slice(1)}` }),
    metadata: {
      file,
      ...(line === undefined ? {} : { line: String(line) }),
      ...(key === undefined ? {} : { key }),
    },
  });
}

function indexOf({ agents, invalid, problems }: AgentsRead) {
  const byName = <Named extends { readonly name: string }>(all: readonly Named[]): readonly Named[] =>
    [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    agents: byName(agents),
    invalid: byName(invalid),
    problems,
    usable: new Map<string, AgentConfig>(agents.map((agent) => [agent.name, agent])),
    // What tells two readings apart.
    texts: new Map<string, string>([
      ...agents.map((agent) => [agent.name, JSON.stringify(agent)] as const),
      ...invalid.map((agent) => [agent.name, agent.problems.map(({ message }) => message).join("\n")] as const),
    ]),
  };
}
