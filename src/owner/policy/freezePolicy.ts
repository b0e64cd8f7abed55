import type { AgentConfig } from "../../base/config/agentConfig.js";
import { digestOf } from "../../base/digest.js";
import { Policy, ReasoningEffort } from "../../gen/talaria/types/v1/policy.js";
import { toDuration } from "../../rpc/wire/times.js";
import { MODEL_CREDENTIAL } from "./resolveCredentials.js";

/** What is left out of a policy. */
export interface PolicyOptions {
  /** Leaves out the instructions file and memory. */
  readonly ignoreRules?: boolean;
  /** Leaves out plugins, hooks, MCP servers and user configuration. */
  readonly safeMode?: boolean;
  /** Built-in defaults instead of the agent's configuration. */
  readonly ignoreUserConfig?: boolean;
}

const EFFORTS: Readonly<Record<NonNullable<AgentConfig["reasoning"]>, ReasoningEffort>> = {
  none: ReasoningEffort.REASONING_EFFORT_NONE,
  low: ReasoningEffort.REASONING_EFFORT_LOW,
  medium: ReasoningEffort.REASONING_EFFORT_MEDIUM,
  high: ReasoningEffort.REASONING_EFFORT_HIGH,
};

/** An agent's policy as it is frozen into a session when that is created. Safe mode implies ignoring user configuration. */
export function freezePolicy(agent: AgentConfig, options: PolicyOptions = {}): Policy {
  const safeMode = options.safeMode === true;
  const ignoreUserConfig = safeMode || options.ignoreUserConfig === true;
  const ignoreRules = options.ignoreRules === true;
  const model = (name: string) => ({
    provider: "",
    model: name,
    baseUrl: agent.baseUrl ?? "",
    credential: agent.apiKeyFile === undefined && agent.apiKeyEnv === undefined ? "" : MODEL_CREDENTIAL,
  });
  const { turnLimitMs, noProgressMs, memoryMib } = agent.limits;
  return Policy.fromPartial({
    runtime: agent.runtime,
    model: agent.model === undefined ? undefined : model(agent.model),
    fallbackModels: ignoreUserConfig ? [] : agent.fallbackModels.map(model),
    reasoning: agent.reasoning === undefined ? ReasoningEffort.REASONING_EFFORT_UNSPECIFIED : EFFORTS[agent.reasoning],
    instructions: ignoreRules ? "" : agent.instructions,
    ignoreRules,
    safeMode,
    ignoreUserConfig,
    limits: {
      turn: turnLimitMs === undefined ? undefined : toDuration(turnLimitMs),
      idle: noProgressMs === undefined ? undefined : toDuration(noProgressMs),
      memoryBytes: BigInt(memoryMib ?? 0) * 1_048_576n,
    },
    tools: ignoreUserConfig ? [] : [...(agent.tools ?? [])],
    configurationDigest: digestOf([JSON.stringify(agent)]),
  });
}
