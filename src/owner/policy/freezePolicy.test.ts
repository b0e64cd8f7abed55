import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import { loadAgents } from "../../base/testing/loadAgents.js";
import { SecretRegistry } from "../../base/secretRegistry.js";
import { ApprovalMode, HookEvent, Policy } from "../../gen/talaria/types/v1/policy.js";
import { workerSpec } from "../pool/workerSpec.js";
import { freezePolicy } from "./freezePolicy.js";
import { resolveCredentials } from "./resolveCredentials.js";

const FULL = `
runtime: openai
model: big
provider: house
base_url: http://localhost:1/v1
api_key_env: HOUSE_KEY
fallback_models:
  - small
  - { model: other, base_url: "http://localhost:2/v1", api_key_file: other.key }
  - { model: open, base_url: "http://localhost:3/v1" }
reasoning: low
tools: [read_file, mcp_files_*]
mcp_servers:
  files:
    command: [files-server, --all]
    env: { TOKEN: literal-token, SHARED: { env: SHARED_SECRET } }
  web:
    url: https://example.org/mcp
    headers: { Authorization: { file: web.header } }
approvals: allow
terminal: { sandbox: bubblewrap, user: builder }
limits: { turn_limit_ms: 60000, no_progress_ms: 30000, memory_mib: 128, max_model_calls: 7 }
hooks:
  turn_started: [{ command: [note], timeout_ms: 1000 }]
  memory_recall: [{ command: [recall] }]
  memory_store: [{ command: [store] }]
`;
const ENVIRONMENT = { HOUSE_KEY: "house-key", SHARED_SECRET: "shared-secret" };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "tal-"));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

function agent(text: string, instructions = "Be brief."): AgentConfig {
  const folder = join(home, "ada");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "agent.yaml"), text);
  writeFileSync(join(folder, "instructions.md"), instructions);
  writeFileSync(join(folder, "other.key"), "other-key\n");
  writeFileSync(join(folder, "web.header"), "Bearer web-header\n");
  const [found] = loadAgents(home);
  if (found === undefined) throw new Error("no agent");
  return found;
}

test("a program of runtime command is given a key without a model", () => {
  const one = agent("runtime: command\nworker: { command: [mind] }\napi_key_env: HOUSE_KEY\n");
  const policy = freezePolicy(one);
  expect(policy.model).toEqual({ provider: "", model: "", baseUrl: "", credential: "model" });
  const secrets = new SecretRegistry();
  expect(resolveCredentials(one, policy, ENVIRONMENT, secrets)).toEqual([{ name: "model", secret: "house-key" }]);
  expect(freezePolicy(agent("runtime: command\nworker: { command: [mind] }\n")).model).toBeUndefined();
});

test("every key of an agent's file reaches the policy, and no value of a variable, header or key does", () => {
  const policy = freezePolicy(agent(FULL));
  expect(policy).toMatchObject({
    runtime: "openai",
    model: { provider: "house", model: "big", baseUrl: "http://localhost:1/v1", credential: "model" },
    fallbackModels: [
      { provider: "house", model: "small", baseUrl: "http://localhost:1/v1", credential: "model" },
      { provider: "", model: "other", baseUrl: "http://localhost:2/v1", credential: "fallback/2" },
      { provider: "", model: "open", baseUrl: "http://localhost:3/v1", credential: "" },
    ],
    instructions: "Be brief.",
    limits: {
      turn: { seconds: 60n, nanos: 0 },
      idle: { seconds: 30n, nanos: 0 },
      memoryBytes: 134_217_728n,
      maxModelCalls: 7,
    },
    tools: ["read_file", "mcp_files_*"],
    mcpServers: [
      {
        name: "files",
        command: ["files-server", "--all"],
        environmentNames: ["TOKEN", "SHARED"],
        url: "",
        headerNames: [],
      },
      {
        name: "web",
        command: [],
        environmentNames: [],
        url: "https://example.org/mcp",
        headerNames: ["Authorization"],
      },
    ],
    approvals: ApprovalMode.APPROVAL_MODE_ALLOW,
    hooks: [
      { event: HookEvent.HOOK_EVENT_TURN_STARTED, command: ["note"], timeout: { seconds: 1n, nanos: 0 } },
      { event: HookEvent.HOOK_EVENT_MEMORY_RECALL, command: ["recall"], timeout: { seconds: 5n, nanos: 0 } },
      { event: HookEvent.HOOK_EVENT_MEMORY_STORE, command: ["store"], timeout: { seconds: 5n, nanos: 0 } },
    ],
    terminalSandbox: 1,
    terminalUser: "builder",
  });
  expect(policy.configurationDigest).toMatch(/^[0-9a-f]{64}$/);
  const stored = Buffer.from(Policy.encode(policy).finish()).toString("latin1");
  for (const secret of ["literal-token", "shared-secret", "house-key", "other-key", "web-header"]) {
    expect(stored).not.toContain(secret);
  }
});

test("OW35 OW36 safe mode leaves out hooks, MCP servers and preferences, and widens nothing", () => {
  expect(freezePolicy(agent(FULL), { safeMode: true })).toMatchObject({
    safeMode: true,
    ignoreUserConfig: true,
    mcpServers: [],
    hooks: [],
    fallbackModels: [],
    reasoning: 0,
    approvals: ApprovalMode.APPROVAL_MODE_ASK,
    tools: ["read_file", "mcp_files_*"],
    terminalSandbox: 1,
    terminalUser: "builder",
    limits: { maxModelCalls: 7 },
  });
});

test("OW36 without user configuration the hooks and MCP servers still run, and preferences do not count", () => {
  const policy = freezePolicy(agent(FULL), { ignoreUserConfig: true });
  expect(policy).toMatchObject({ safeMode: false, ignoreUserConfig: true, fallbackModels: [], reasoning: 0 });
  expect(policy.approvals).toBe(ApprovalMode.APPROVAL_MODE_ASK);
  expect([policy.mcpServers.length, policy.hooks.length]).toEqual([2, 3]);
  const denying = freezePolicy(agent("runtime: echo\napprovals: deny\n"), { ignoreUserConfig: true });
  expect(denying.approvals).toBe(ApprovalMode.APPROVAL_MODE_DENY);
});

test("without rules there are no instructions and no memory, and the other hooks stay", () => {
  const policy = freezePolicy(agent(FULL), { ignoreRules: true });
  expect(policy.instructions).toBe("");
  expect(policy.hooks.map(({ event }) => event)).toEqual([HookEvent.HOOK_EVENT_TURN_STARTED]);
});

test("an empty list of tools offers none, a missing one the runtime's own", () => {
  expect(freezePolicy(agent("runtime: echo\ntools: []\n")).tools).toEqual(["none"]);
  expect(freezePolicy(agent("runtime: echo\n")).tools).toEqual([]);
});

test("the digest follows the configuration, not the values of variables", () => {
  const digest = (text: string, instructions?: string): string =>
    freezePolicy(agent(text, instructions)).configurationDigest;
  const first = digest(FULL);
  expect(digest(FULL.replace("literal-token", "another"))).toBe(first);
  expect(digest(FULL.replace("model: big", "model: bigger"))).not.toBe(first);
  expect(digest(FULL, "Be long.")).not.toBe(first);
});

test("credentials are those that the policy names, read where they are kept, and hidden from logs", () => {
  const secrets = new SecretRegistry();
  const ada = agent(FULL);
  const resolve = (policy: Policy) => resolveCredentials(ada, policy, ENVIRONMENT, secrets);
  expect(resolve(freezePolicy(ada))).toEqual([
    { name: "model", secret: "house-key" },
    { name: "fallback/2", secret: "other-key" },
    { name: "mcp/files/env/TOKEN", secret: "literal-token" },
    { name: "mcp/files/env/SHARED", secret: "shared-secret" },
    { name: "mcp/web/header/Authorization", secret: "Bearer web-header" },
  ]);
  expect(secrets.hide("x literal-token y")).toBe("x [redacted] y");
  expect(resolve(freezePolicy(ada, { safeMode: true })).map(({ name }) => name)).toEqual(["model"]);
  const policy = freezePolicy(ada);
  expect(resolveCredentials(agent("runtime: echo\n"), policy, ENVIRONMENT, secrets)).toEqual([]);
});

test.each([
  ["api_key_env: NOT_SET\n", "The API key of ada cannot be had: the variable NOT_SET is not set."],
  ["api_key_file: none.key\n", /^The API key of ada cannot be read from .*none\.key: ENOENT\.$/],
])("a key that cannot be had is RUNTIME_CONFIG: %j", (line, message) => {
  const ada = agent(`runtime: openai\nmodel: m\n${line}`);
  expect(() => resolveCredentials(ada, freezePolicy(ada), {}, new SecretRegistry())).toThrow(message);
  expect(() => resolveCredentials(ada, freezePolicy(ada), {}, new SecretRegistry())).toThrow(
    expect.objectContaining({ reason: "RUNTIME_CONFIG" }),
  );
});

test("the acp runtime runs in our own worker, which is told of the agent's command", () => {
  const ada = agent("runtime: acp\nworker: { command: [goose, acp], env: { GOOSE_KEY: { env: SHARED_SECRET } } }\n");
  const program = { command: ["node", "main.cjs"] as const, environment: ENVIRONMENT, ownerSocket: "/s" };
  const spec = workerSpec(ada, { ...program, command: ["node", "main.cjs"] }, "/w");
  expect(spec).toMatchObject({ poolable: true, request: { command: ["node", "main.cjs"], directory: "/w" } });
  expect(JSON.stringify(spec)).not.toContain("GOOSE_KEY");
  const policy = freezePolicy(ada);
  expect(policy).toMatchObject({ agentCommand: ["goose", "acp"], agentEnvironmentNames: ["GOOSE_KEY"] });
  expect(resolveCredentials(ada, policy, ENVIRONMENT, new SecretRegistry())).toEqual([
    { name: "agent/env/GOOSE_KEY", secret: "shared-secret" },
  ]);
});

test("a command worker is the agent's own program with its variables", () => {
  const ada = agent("runtime: command\nworker: { command: [python3, w.py], env: { MODE: fast } }\n");
  const spec = workerSpec(ada, { command: ["node", "main.cjs"], environment: {}, ownerSocket: "/s" }, "/w");
  expect(spec).toMatchObject({ poolable: false, request: { command: ["python3", "w.py"], env: { MODE: "fast" } } });
  expect(freezePolicy(ada)).toMatchObject({ agentCommand: [], agentEnvironmentNames: [] });
  // A session that was made while the agent's file named another runtime keeps that one.
  const older = workerSpec(ada, { command: ["node", "main.cjs"], environment: {}, ownerSocket: "/s" }, "/w", "echo");
  expect(older).toMatchObject({ poolable: true, request: { command: ["node", "main.cjs"] } });
});
