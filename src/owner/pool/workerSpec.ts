import type { AgentConfig } from "../../base/config/agentConfig.js";
import { digestOf } from "../../base/digest.js";
import type { SpawnRequest } from "../launch/spawner.js";
import { workerEnvironment } from "../launch/workerEnvironment.js";

/** What the owner starts where an agent names no command of its own. */
export interface WorkerProgram {
  /** Node itself and its arguments up to the worker's entry. */
  readonly command: readonly [string, ...string[]];
  /** The gateway's own environment, from which workers get a scrubbed one. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path of the owner socket. */
  readonly ownerSocket: string;
}

/** A process to start for an agent, with the key under which an idle one may be used for it. */
export interface WorkerSpec {
  readonly request: SpawnRequest;
  /**
   * Equal for specs whose processes are interchangeable: command, environment, directory. The limit that a process has from
   * its start, its heap's, is in the command; the others, and safe mode, come with the bootstrap and are the turn's own.
   */
  readonly key: string;
  /** Runtime of the turn that it is for; no part of the key. */
  readonly runtime: string;
  /** Whether it may be started before it is needed: foreign commands may do anything at their start. */
  readonly poolable: boolean;
}

/**
 * The process to start for an agent's turn. The agent that the `acp` runtime drives is no worker: ours runs, and is told of the
 * agent's command and environment in the bootstrap.
 * @param runtime the one that the session's policy names, which the agent's file may no longer do
 */
export function workerSpec(
  agent: AgentConfig,
  program: WorkerProgram,
  directory: string,
  runtime: string = agent.runtime,
): WorkerSpec {
  const [own, ...rest] = (runtime === "command" ? agent.workerCommand : undefined) ?? [];
  const command: readonly [string, ...string[]] =
    own === undefined ? withMemory(program.command, agent.limits.memoryMib) : [own, ...rest];
  const env = workerEnvironment(program.environment, givenVariables(agent, runtime), program.ownerSocket);
  const sorted = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    request: { command, env, directory },
    key: digestOf([JSON.stringify(command), JSON.stringify(sorted), directory]),
    runtime,
    poolable: own === undefined,
  };
}

/** What stands in the file itself: the configuration allows nothing else for a worker's own environment. */
function givenVariables({ workerEnv }: AgentConfig, runtime: string): Record<string, string> {
  if (runtime === "acp") return {};
  return Object.fromEntries(
    Object.entries(workerEnv).flatMap(([name, source]) => (source.kind === "value" ? [[name, source.value]] : [])),
  );
}

function withMemory(command: readonly [string, ...string[]], mib: number | undefined): readonly [string, ...string[]] {
  if (mib === undefined) return command;
  const [node, ...rest] = command;
  return [node, `--max-old-space-size=${String(mib)}`, ...rest];
}
