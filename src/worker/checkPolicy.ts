import { HookEvent, type Hook, type McpServer, type Policy } from "../gen/talaria/types/v1/policy.js";

/** Longest instructions, code points; a text has at most two units for each. Source: policy.proto, as all bounds here. */
const MAX_INSTRUCTIONS = 262_144;
const MAX_FALLBACKS = 8;
const MAX_PREFILL = 32;
const MAX_SERVERS = 32;
const MAX_HOOKS = 32;
const MAX_HOOK_SECONDS = 60n;
const MAX_USER = 32;
const SERVER_NAME = /^[a-z0-9_-]{1,32}$/;

/** The fields of a policy that break the contract, by name and never by value. */
export function policyMistakes(policy: Policy | undefined): readonly string[] {
  if (policy === undefined) return ["policy.runtime"];
  const { mcpServers, hooks } = policy;
  const names = mcpServers.map(({ name }) => name);
  const rules: readonly (readonly [field: string, holds: boolean])[] = [
    ["policy.runtime", policy.runtime !== ""],
    ["policy.fallback_models", policy.fallbackModels.length <= MAX_FALLBACKS],
    ["policy.instructions", policy.instructions.length <= 2 * MAX_INSTRUCTIONS],
    ["policy.prefill_messages", policy.prefillMessages.length <= MAX_PREFILL],
    [
      "policy.mcp_servers",
      names.length <= MAX_SERVERS && new Set(names).size === names.length && mcpServers.every(isServer),
    ],
    ["policy.hooks", hooks.length <= MAX_HOOKS && hooks.every(isHook)],
    ["policy.terminal_user", policy.terminalUser.length <= MAX_USER],
  ];
  return rules.filter(([, holds]) => !holds).map(([field]) => field);
}

function isServer({ name, command, url }: McpServer): boolean {
  if (!SERVER_NAME.test(name) || (url === "") === (command.length === 0)) return false;
  return url === "" || (/^https?:\/\//.test(url) && URL.canParse(url));
}

function isHook({ event, command, timeout }: Hook): boolean {
  const seconds = timeout?.seconds ?? 0n;
  return (
    event !== HookEvent.HOOK_EVENT_UNSPECIFIED && command.length > 0 && seconds >= 0n && seconds <= MAX_HOOK_SECONDS
  );
}
