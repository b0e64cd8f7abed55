import type { AgentConfig, HookEventName, ModelConfig, SecretSource } from "../../base/config/agentConfig.js";
import {
  ApprovalMode,
  HookEvent,
  Policy,
  ReasoningEffort,
  TerminalSandbox,
  type Hook,
  type McpServer,
  type ModelRef,
} from "../../gen/talaria/types/v1/policy.js";
import { toDuration } from "../../rpc/wire/times.js";
import { configurationDigest } from "./configurationDigest.js";
import { CREDENTIAL_NAMES } from "./credentialNames.js";

/** What is left out of a policy. */
export interface PolicyOptions {
  /** Leaves out the instructions file and memory. */
  readonly ignoreRules?: boolean;
  /** Leaves out plugins, hooks, MCP servers and user configuration. */
  readonly safeMode?: boolean;
  /** Built-in defaults instead of the agent's preferences; what restricts it stays. */
  readonly ignoreUserConfig?: boolean;
}

/** A name that no tool has: a list with it alone offers nothing, where an empty one means the runtime's own choice. */
const NO_TOOLS = "none";

const EFFORTS: Readonly<Record<NonNullable<AgentConfig["reasoning"]>, ReasoningEffort>> = {
  none: ReasoningEffort.REASONING_EFFORT_NONE,
  low: ReasoningEffort.REASONING_EFFORT_LOW,
  medium: ReasoningEffort.REASONING_EFFORT_MEDIUM,
  high: ReasoningEffort.REASONING_EFFORT_HIGH,
};
const APPROVALS: Readonly<Record<AgentConfig["approvals"], ApprovalMode>> = {
  ask: ApprovalMode.APPROVAL_MODE_ASK,
  deny: ApprovalMode.APPROVAL_MODE_DENY,
  allow: ApprovalMode.APPROVAL_MODE_ALLOW,
};
const EVENTS: Readonly<Record<HookEventName, HookEvent>> = {
  turn_started: HookEvent.HOOK_EVENT_TURN_STARTED,
  tool_started: HookEvent.HOOK_EVENT_TOOL_STARTED,
  tool_completed: HookEvent.HOOK_EVENT_TOOL_COMPLETED,
  turn_ended: HookEvent.HOOK_EVENT_TURN_ENDED,
  memory_recall: HookEvent.HOOK_EVENT_MEMORY_RECALL,
  memory_store: HookEvent.HOOK_EVENT_MEMORY_STORE,
};

/**
 * An agent's policy as it is frozen into a session when that is created. Safe mode implies ignoring user configuration. Nothing that
 * is left out widens what the agent may do: its tools, its bounds, a `deny` of approvals and what surrounds its terminal stay.
 */
export function freezePolicy(agent: AgentConfig, options: PolicyOptions = {}): Policy {
  const safeMode = options.safeMode === true;
  const ignoreUserConfig = safeMode || options.ignoreUserConfig === true;
  const ignoreRules = options.ignoreRules === true;
  const { turnLimitMs, noProgressMs, memoryMib, maxModelCalls } = agent.limits;
  const own = agent.model;
  return Policy.fromPartial({
    runtime: agent.runtime,
    model: own === undefined ? undefined : modelRef(own, CREDENTIAL_NAMES.model),
    fallbackModels: ignoreUserConfig ? [] : fallbacksOf(agent),
    reasoning:
      ignoreUserConfig || agent.reasoning === undefined
        ? ReasoningEffort.REASONING_EFFORT_UNSPECIFIED
        : EFFORTS[agent.reasoning],
    instructions: ignoreRules ? "" : agent.instructions,
    ignoreRules,
    safeMode,
    ignoreUserConfig,
    limits: {
      turn: turnLimitMs === undefined ? undefined : toDuration(turnLimitMs),
      idle: noProgressMs === undefined ? undefined : toDuration(noProgressMs),
      memoryBytes: BigInt(memoryMib ?? 0) * 1_048_576n,
      maxModelCalls: maxModelCalls ?? 0,
    },
    tools: agent.tools === undefined ? [] : agent.tools.length === 0 ? [NO_TOOLS] : [...agent.tools],
    configurationDigest: configurationDigest(agent),
    mcpServers: safeMode ? [] : serversOf(agent),
    approvals: APPROVALS[ignoreUserConfig && agent.approvals === "allow" ? "ask" : agent.approvals],
    hooks: safeMode ? [] : hooksOf(agent, ignoreRules),
    agentCommand: agent.runtime === "acp" ? [...(agent.workerCommand ?? [])] : [],
    agentEnvironmentNames: agent.runtime === "acp" ? Object.keys(agent.workerEnv) : [],
    terminalSandbox:
      agent.terminal.sandbox === "bubblewrap"
        ? TerminalSandbox.TERMINAL_SANDBOX_BUBBLEWRAP
        : TerminalSandbox.TERMINAL_SANDBOX_UNSPECIFIED,
    terminalUser: agent.terminal.user,
  });
}

function modelRef({ name, provider, baseUrl, apiKey }: ModelConfig, credential: string): ModelRef {
  return { provider, model: name, baseUrl, credential: apiKey === undefined ? "" : credential };
}

/** A fallback that is opened by the model's own key names that one. */
function fallbacksOf({ model, fallbackModels }: AgentConfig): ModelRef[] {
  const same = (a: SecretSource | undefined, b: SecretSource | undefined): boolean =>
    JSON.stringify(a) === JSON.stringify(b);
  return fallbackModels.map((one, index) =>
    modelRef(one, same(one.apiKey, model?.apiKey) ? CREDENTIAL_NAMES.model : CREDENTIAL_NAMES.fallback(index + 1)),
  );
}

function serversOf({ mcpServers }: AgentConfig): McpServer[] {
  return Object.entries(mcpServers).map(([name, { command, env, url, headers }]) => ({
    name,
    command: [...command],
    environmentNames: Object.keys(env),
    url,
    headerNames: Object.keys(headers),
  }));
}

function hooksOf({ hooks }: AgentConfig, ignoreRules: boolean): Hook[] {
  return hooks
    .filter(({ event }) => !ignoreRules || !event.startsWith("memory_"))
    .map(({ event, command, timeoutMs }) => ({
      event: EVENTS[event],
      command: [...command],
      timeout: toDuration(timeoutMs),
    }));
}
