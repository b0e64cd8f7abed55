import { isAbsolute, join } from "node:path";

import type { z } from "zod";

import type { AgentName } from "../ids.js";
import type { AgentConfig, HookConfig, McpServerConfig, ModelConfig, SecretSource } from "./agentConfig.js";
import { HOOK_EVENTS } from "./agentConfig.js";
import type { agentConfigSchema } from "./agentConfigSchema.js";

type Written = z.output<typeof agentConfigSchema>;
type WrittenSource = Written["worker"]["env"][string];

/** Fills in what is left out of an agent's file; relative paths start at its folder. */
export function resolveAgent(written: Written, directory: string, name: AgentName, instructions: string): AgentConfig {
  const { limits, budget } = written;
  const model = modelOf(written, directory);
  return {
    name,
    directory,
    title: written.title ?? name,
    description: written.description,
    main: written.main,
    runtime: written.runtime,
    ...defined("model", model),
    fallbackModels: model === undefined ? [] : written.fallback_models.map((one) => fallbackOf(one, model, directory)),
    ...defined("reasoning", written.reasoning),
    ...defined("tools", written.tools),
    mcpServers: mapped(written.mcp_servers, (server): McpServerConfig => ({
      command: server.command === undefined ? [] : commandOf(server.command, directory),
      env: sources(server.env, directory),
      url: server.url ?? "",
      headers: sources(server.headers, directory),
    })),
    ...defined(
      "workerCommand",
      written.worker.command === undefined ? undefined : commandOf(written.worker.command, directory),
    ),
    workerEnv: sources(written.worker.env, directory),
    private: written.private,
    messaging: written.messaging,
    approvals: written.approvals,
    terminal: { sandbox: written.terminal.sandbox, user: written.terminal.user ?? "" },
    limits: {
      ...defined("turnLimitMs", limits.turn_limit_ms),
      ...defined("noProgressMs", limits.no_progress_ms),
      ...defined("memoryMib", limits.memory_mib),
      ...defined("maxModelCalls", limits.max_model_calls),
    },
    budget: {
      ...defined("tokensPerDay", budget.tokens_per_day),
      ...defined("costUsdPerDay", budget.cost_usd_per_day),
    },
    hooks: HOOK_EVENTS.flatMap((event) =>
      written.hooks[event].map((one): HookConfig => ({
        event,
        command: commandOf(one.command, directory),
        timeoutMs: one.timeout_ms,
      })),
    ),
    instructions,
  };
}

function modelOf(written: Written, directory: string): ModelConfig | undefined {
  const apiKey = keyOf(written, directory);
  // A program of the user's may know its model by itself; its key is passed on all the same.
  const keyAlone = written.runtime === "command" && apiKey !== undefined;
  if (written.model === undefined && !keyAlone) return undefined;
  return {
    name: written.model ?? "",
    provider: written.provider ?? "",
    baseUrl: written.base_url ?? "",
    ...defined("apiKey", apiKey),
  };
}

/** A fallback that names no endpoint uses the model's own; only there is the model's key sent too. */
function fallbackOf(written: Written["fallback_models"][number], model: ModelConfig, directory: string): ModelConfig {
  const elsewhere = written.base_url !== undefined;
  return {
    name: written.model,
    provider: written.provider ?? (elsewhere ? "" : model.provider),
    baseUrl: written.base_url ?? model.baseUrl,
    ...defined("apiKey", keyOf(written, directory) ?? (elsewhere ? undefined : model.apiKey)),
  };
}

function keyOf(
  written: { readonly api_key_file?: string | undefined; readonly api_key_env?: string | undefined },
  directory: string,
): SecretSource | undefined {
  if (written.api_key_file !== undefined) return { kind: "file", path: within(directory, written.api_key_file) };
  return written.api_key_env === undefined ? undefined : { kind: "env", name: written.api_key_env };
}

function sources(
  written: Readonly<Record<string, WrittenSource>>,
  directory: string,
): Readonly<Record<string, SecretSource>> {
  return mapped(written, ({ value, env, file }): SecretSource => {
    if (env !== undefined) return { kind: "env", name: env };
    return file === undefined ? { kind: "value", value: value ?? "" } : { kind: "file", path: within(directory, file) };
  });
}

function mapped<Given, Made>(
  record: Readonly<Record<string, Given>>,
  make: (given: Given) => Made,
): Readonly<Record<string, Made>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value)]));
}

/** A program that is named by a path starts at the folder, never at the workspace: there the agent itself could replace it. */
function commandOf([program = "", ...rest]: readonly string[], directory: string): readonly string[] {
  return [program.includes("/") ? within(directory, program) : program, ...rest];
}

function within(directory: string, path: string): string {
  return isAbsolute(path) ? path : join(directory, path);
}

/** `{ [key]: value }`, or nothing for undefined, as exact optional properties want it. */
function defined<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}
