import type { AgentName } from "../ids.js";

/** What drives an agent's turns. */
export type RuntimeKind = "echo" | "openai" | "acp" | "command";

/** Where a value is kept that may be secret. It is read for each turn, by the gateway, and stored nowhere. */
export type SecretSource =
  /** In the file itself. */
  | { readonly kind: "value"; readonly value: string }
  /** In a variable of the gateway's environment. */
  | { readonly kind: "env"; readonly name: string }
  /** In a file; white space at its end is no part of it. */
  | { readonly kind: "file"; readonly path: string };

/** A model of an OpenAI-compatible endpoint. */
export interface ModelConfig {
  /** Model name, as the endpoint spells it; empty only where a program of runtime `command` is given a key and no model. */
  readonly name: string;
  /** Name of the provider for people and receipts; empty for none. */
  readonly provider: string;
  /** Base address of the endpoint; empty for the runtime's own. */
  readonly baseUrl: string;
  /** Opens the endpoint; absent = nothing is sent. */
  readonly apiKey?: SecretSource;
}

/** One MCP server of an agent. */
export interface McpServerConfig {
  /** Program and arguments of a server on stdio; empty with a url. */
  readonly command: readonly string[];
  /** Variables added to its scrubbed environment. */
  readonly env: Readonly<Record<string, SecretSource>>;
  /** Address of a streamable HTTP server; empty with a command. */
  readonly url: string;
  /** Headers sent to it. */
  readonly headers: Readonly<Record<string, SecretSource>>;
}

/** When a hook runs. Source: HookEvent of the contract. */
export const HOOK_EVENTS = [
  "turn_started",
  "tool_started",
  "tool_completed",
  "turn_ended",
  "memory_recall",
  "memory_store",
] as const;

/** One of {@link HOOK_EVENTS}. */
export type HookEventName = (typeof HOOK_EVENTS)[number];

/** A command run at an event of a turn. */
export interface HookConfig {
  readonly event: HookEventName;
  /** Program and arguments. */
  readonly command: readonly string[];
  /** How long it may take, milliseconds, at most 60,000. */
  readonly timeoutMs: number;
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
  /** The model; absent where the runtime needs none. */
  readonly model?: ModelConfig;
  /** Models tried in order when a quota refuses the first. */
  readonly fallbackModels: readonly ModelConfig[];
  /** How much the model should reason. */
  readonly reasoning?: "none" | "low" | "medium" | "high";
  /** Tools that the agent may use, none of them where it is empty; absent = the runtime's own choice. */
  readonly tools?: readonly string[];
  /** MCP servers by name. */
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>;
  /** Program and arguments of a worker in another language, or of the ACP agent. */
  readonly workerCommand?: readonly string[];
  /** Environment that its worker, or its ACP agent, is given besides the scrubbed one. */
  readonly workerEnv: Readonly<Record<string, SecretSource>>;
  /** Whether it is left out of rosters and takes no messages from others. */
  readonly private: boolean;
  /** Whether it may send and receive direct messages. */
  readonly messaging: boolean;
  /** What happens when a tool needs approval: ask a person, always deny, or allow but for messages from elsewhere. */
  readonly approvals: "ask" | "deny" | "allow";
  /** How commands of the `terminal` tool run. */
  readonly terminal: {
    /** What is put around them. */
    readonly sandbox: "none" | "bubblewrap";
    /** User whom they run as; empty for the worker's own. */
    readonly user: string;
  };
  /** Bounds that are tighter than the home's. */
  readonly limits: {
    /** Longest turn in milliseconds; 0 = no bound; absent = the home's. */
    readonly turnLimitMs?: number;
    /** Longest time without progress in milliseconds; 0 = no bound; absent = the home's. */
    readonly noProgressMs?: number;
    /** Most resident memory of its worker's processes in MiB, and the heap limit of a worker of ours; absent = no bound. */
    readonly memoryMib?: number;
    /** Most requests to the model in one turn; absent = the runtime's default. */
    readonly maxModelCalls?: number;
  };
  /** What it may use on one UTC day; from then on it begins no turn until the next. */
  readonly budget: {
    /** Tokens in and out of all its model calls; absent = no bound. */
    readonly tokensPerDay?: number;
    /** US dollars, as far as the cost of its calls is known; absent = no bound. */
    readonly costUsdPerDay?: number;
  };
  /** Commands run at events of a turn, those of one event in their order. */
  readonly hooks: readonly HookConfig[];
  /** The text of `instructions.md`; empty if there is none. */
  readonly instructions: string;
}
