import { z } from "zod";

import { agentRules } from "./agentRules.js";
import { HOOK_EVENTS } from "./agentConfig.js";
import { isName } from "../ids.js";

const text = z.string().min(1);
const command = z.array(text.refine((part) => !part.includes("\0"), "holds U+0000")).min(1);
const url = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  // It is stored with every session, and would not be sent.
  .refine(
    (address) => !/^\s*\w+:\/\/[^/?#]*@/.test(address),
    "must hold no user and no password: they belong to a key or a header",
  );

/** A value, or where it is kept: written as a text, `{ env: NAME }` or `{ file: PATH }`. */
const source = z.preprocess(
  (given) => (typeof given === "string" ? { value: given } : given),
  z
    .strictObject(
      { value: z.string().optional(), env: text.optional(), file: text.optional() },
      {
        error: (issue) =>
          issue.code === "invalid_type"
            ? "must be a text (put it in quotes), { env: NAME } or { file: PATH }"
            : undefined,
      },
    )
    .refine((given) => Object.keys(given).length === 1, "must be exactly one of value, env and file"),
);
const variables = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must name a variable"), source);
const headers = z.record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/, "must name a header"), source);

const fallback = z.preprocess(
  (given) => (typeof given === "string" ? { model: given } : given),
  z.strictObject({
    model: text.max(256),
    provider: text.max(64).optional(),
    base_url: url.optional(),
    api_key_file: text.optional(),
    api_key_env: text.optional(),
  }),
);

const mcpServer = z
  .strictObject({
    command: command.optional(),
    env: variables.default({}),
    url: url.optional(),
    headers: headers.default({}),
  })
  .superRefine((server, context) => {
    const refuse = (key: string, message: string): void => {
      context.addIssue({ code: "custom", path: [key], message });
    };
    if (server.command === undefined && server.url === undefined) refuse("command", "is required, or url");
    if (server.command !== undefined && server.url !== undefined) refuse("url", "cannot be set beside command");
    if (server.url !== undefined && Object.keys(server.env).length > 0) refuse("env", "belongs to a command");
    if (server.command !== undefined && Object.keys(server.headers).length > 0) refuse("headers", "belongs to a url");
  });

const hook = z.strictObject({ command, timeout_ms: z.int().min(100).max(60_000).default(5_000) });
const hooks = Object.fromEntries(HOOK_EVENTS.map((event) => [event, z.array(hook).max(8).default([])])) as Record<
  (typeof HOOK_EVENTS)[number],
  z.ZodDefault<z.ZodArray<typeof hook>>
>;

/** `agents/<name>/agent.yaml`, as written. */
export const agentConfigSchema = z
  .strictObject({
    name: z.string().refine(isName, "must match [a-z0-9][a-z0-9_-]{0,63}").optional(),
    title: text.max(200).optional(),
    description: z.string().max(1_000).default(""),
    main: z.boolean().default(false),
    runtime: z.enum(["echo", "openai", "acp", "command"]),
    model: text.max(256).optional(),
    provider: text.max(64).optional(),
    base_url: url.optional(),
    api_key_file: text.optional(),
    api_key_env: text.optional(),
    fallback_models: z.array(fallback).max(8).default([]),
    reasoning: z.enum(["none", "low", "medium", "high"]).optional(),
    tools: z.array(text.max(64)).max(256).optional(),
    mcp_servers: z
      .record(z.string().regex(/^[a-z0-9_-]{1,32}$/, "must match [a-z0-9_-]{1,32}"), mcpServer)
      .refine((servers) => Object.keys(servers).length <= 32, "has more than 32 servers")
      .default({}),
    worker: z.strictObject({ command: command.optional(), env: variables.default({}) }).prefault({}),
    private: z.boolean().default(false),
    messaging: z.boolean().default(true),
    approvals: z.enum(["ask", "deny", "allow"]).default("ask"),
    terminal: z
      .strictObject({
        sandbox: z.enum(["none", "bubblewrap"]).default("none"),
        user: z
          .string()
          .regex(/^[a-z_][a-z0-9_-]{0,31}$/, "must be the name of a user")
          .optional(),
      })
      .prefault({}),
    limits: z
      .strictObject({
        turn_limit_ms: z.int().min(0).optional(),
        no_progress_ms: z.int().min(0).optional(),
        memory_mib: z.int().min(96).max(65_536).optional(),
        max_model_calls: z.int().min(1).max(10_000).optional(),
      })
      .prefault({}),
    budget: z
      .strictObject({
        tokens_per_day: z.int().min(1).optional(),
        cost_usd_per_day: z.number().positive().max(1_000_000_000).optional(),
      })
      .prefault({}),
    hooks: z.strictObject(hooks).prefault({}),
  })
  .check(agentRules());
