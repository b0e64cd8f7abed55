import { z } from "zod";

import type { AgentName } from "../ids.js";

/** What drives an agent's turns. */
export type RuntimeKind = "echo" | "openai" | "acp" | "command";

/** One MCP server of an agent. */
export interface McpServerConfig {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Variables added to its scrubbed environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** An agent with every default filled in. */
export interface AgentConfig {
  /** The folder's name. */
  readonly name: AgentName;
  /** The folder; relative paths in the file start here. */
  readonly directory: string;
  /** What people see. */
  readonly title: string;
  /** One line about what the agent is for; empty = none. */
  readonly description: string;
  /** Whether it is the home's main agent. */
  readonly main: boolean;
  /** See {@link RuntimeKind}. */
  readonly runtime: RuntimeKind;
  /** Model name for the runtime. */
  readonly model?: string;
  /** Base address of an OpenAI-compatible endpoint. */
  readonly baseUrl?: string;
  /** File that holds the API key. */
  readonly apiKeyFile?: string;
  /** Environment variable of the gateway that holds the API key. */
  readonly apiKeyEnv?: string;
  /** Models tried in order when the first is unavailable. */
  readonly fallbackModels: readonly string[];
  /** How much the model should reason. */
  readonly reasoning?: "none" | "low" | "medium" | "high";
  /** Tools that the agent may use; absent = the runtime's own choice. */
  readonly tools?: readonly string[];
  /** MCP servers by name. */
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  /** Program and arguments of a worker in another language, or of the ACP agent. */
  readonly workerCommand?: readonly string[];
  /** Environment that its worker is given besides the scrubbed one. */
  readonly workerEnv: Readonly<Record<string, string>>;
  /** Whether it is left out of rosters and takes no messages from others. */
  readonly private: boolean;
  /** Whether it may send and receive direct messages. */
  readonly messaging: boolean;
  /** What happens when a tool needs approval: ask a person, always deny, or always allow. */
  readonly approvals: "ask" | "deny" | "allow";
  /** Bounds that are tighter than the home's. */
  readonly limits: {
    /** Longest turn in milliseconds; 0 = no bound; absent = the home's. */
    readonly turnLimitMs?: number;
    /** Longest time without progress in milliseconds; 0 = no bound; absent = the home's. */
    readonly noProgressMs?: number;
    /** Most resident memory of its worker's processes in MiB, and the heap limit of a worker of ours; absent = no bound. */
    readonly memoryMib?: number;
  };
  /** Commands run around a turn. */
  readonly hooks: {
    /** Program and arguments run before the turn. */
    readonly beforeTurn?: readonly string[];
    /** Program and arguments run after the turn. */
    readonly afterTurn?: readonly string[];
  };
  /** The text of `instructions.md`; empty if there is none. */
  readonly instructions: string;
}

const text = z.string().min(1);
const command = z.array(text).min(1);
const environment = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must name a variable"), z.string());

/** `agents/<name>/agent.yaml`, as written. */
export const agentConfigSchema = z
  .strictObject({
    title: text.optional(),
    description: z.string().default(""),
    main: z.boolean().default(false),
    runtime: z.enum(["echo", "openai", "acp", "command"]),
    model: text.optional(),
    base_url: z.url({ protocol: /^https?$/ }).optional(),
    api_key_file: text.optional(),
    api_key_env: text.optional(),
    fallback_models: z.array(text).default([]),
    reasoning: z.enum(["none", "low", "medium", "high"]).optional(),
    tools: z.array(text).optional(),
    mcp_servers: z.record(text, z.strictObject({ command, env: environment.default({}) })).default({}),
    worker: z.strictObject({ command: command.optional(), env: environment.default({}) }).prefault({}),
    private: z.boolean().default(false),
    messaging: z.boolean().default(true),
    approvals: z.enum(["ask", "deny", "allow"]).default("ask"),
    limits: z
      .strictObject({
        turn_limit_ms: z.int().min(0).optional(),
        no_progress_ms: z.int().min(0).optional(),
        memory_mib: z.int().min(96).max(65_536).optional(),
      })
      .prefault({}),
    hooks: z.strictObject({ before_turn: command.optional(), after_turn: command.optional() }).prefault({}),
  })
  .superRefine((agent, context) => {
    const refuse = (path: string[], message: string): void => context.addIssue({ code: "custom", path, message });
    if (agent.runtime === "openai" && agent.model === undefined) refuse(["model"], "is required by runtime openai");
    if ((agent.runtime === "acp" || agent.runtime === "command") && agent.worker.command === undefined) {
      refuse(["worker", "command"], `is required by runtime ${agent.runtime}`);
    }
    if (agent.api_key_file !== undefined && agent.api_key_env !== undefined) {
      refuse(["api_key_env"], "cannot be set beside api_key_file");
    }
  });
