import { expect, test } from "vitest";

import { newId } from "../base/ids.js";
import { seededRandom } from "../base/testing/seededRandom.js";
import { Bootstrap } from "../gen/talaria/owner/v1/owner_service.js";
import { checkBootstrap } from "./checkBootstrap.js";

type Changes = Parameters<typeof Bootstrap.fromPartial>[0];

const random = seededRandom(7);
const ids = { exe: newId("exe", random), ses: newId("ses", random), inp: newId("inp", random) };

function bootstrap(changes: Changes = {}): Bootstrap {
  return Bootstrap.fromPartial({
    protocol: 1,
    executionId: ids.exe,
    sessionId: ids.ses,
    sessionTitle: "Test",
    agent: "echo",
    generation: 1n,
    epoch: 1n,
    assignmentSecret: Buffer.alloc(32, 1),
    workspace: "/tmp",
    policy: { runtime: "echo", safeMode: true, ignoreUserConfig: true },
    input: { inputId: ids.inp, text: "hello", depth: 3 },
    credentials: [{ name: "model", secret: "s" }],
    tools: [{ name: "message_agent" }],
    outbox: { directory: "/outbox", key: Buffer.alloc(32, 2) },
    budgets: { approval: { seconds: 300n, nanos: 0 } },
    ...changes,
  });
}

function fieldsRefused(given: Bootstrap): string {
  try {
    checkBootstrap(given);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "";
}

test("OW33 a bootstrap that went over the wire is the one that was sent, and passes", () => {
  const sent = bootstrap();
  const received = Bootstrap.decode(Bootstrap.encode(sent).finish());
  expect(checkBootstrap(received)).toEqual(received);
  expect(Bootstrap.toJSON(received)).toEqual(Bootstrap.toJSON(sent));
});

const servers = (...mcpServers: { name: string; command?: string[]; url?: string }[]): Changes => ({
  policy: { runtime: "echo", mcpServers },
});
const input = { inputId: ids.inp, text: "hello" };
const wrong: readonly [string, Changes][] = [
  ["protocol", { protocol: 0 }],
  ["protocol", { protocol: 2 }],
  ["execution_id", { executionId: "../exe" }],
  ["execution_id", { executionId: ids.ses }],
  ["session_id", { sessionId: "" }],
  ["agent", { agent: "no name" }],
  ["generation", { generation: 0n }],
  ["epoch", { epoch: 0n }],
  ["assignment_secret", { assignmentSecret: Buffer.alloc(31) }],
  ["workspace", { workspace: "relative" }],
  ["policy.runtime", { policy: undefined }],
  ["policy.runtime", { policy: { runtime: "" } }],
  ["policy.instructions", { policy: { runtime: "echo", instructions: "x".repeat(524_289) } }],
  ["policy.fallback_models", { policy: { runtime: "echo", fallbackModels: Array.from({ length: 9 }, () => ({})) } }],
  ["policy.prefill_messages", { policy: { runtime: "echo", prefillMessages: Array.from({ length: 33 }, () => ({})) } }],
  ["policy.mcp_servers", servers({ name: "Not a name", command: ["x"] })],
  ["policy.mcp_servers", servers({ name: "a" })],
  ["policy.mcp_servers", servers({ name: "a", command: ["x"], url: "http://x" })],
  ["policy.mcp_servers", servers({ name: "a", url: "file:///etc/passwd" })],
  ["policy.mcp_servers", servers({ name: "a", url: "nonsense" })],
  ["policy.mcp_servers", servers({ name: "a", command: ["x"] }, { name: "a", command: ["y"] })],
  ["policy.hooks", { policy: { runtime: "echo", hooks: [{ command: ["x"] }] } }],
  ["policy.hooks", { policy: { runtime: "echo", hooks: [{ event: 1 }] } }],
  [
    "policy.hooks",
    { policy: { runtime: "echo", hooks: [{ event: 1, command: ["x"], timeout: { seconds: 61n, nanos: 0 } }] } },
  ],
  ["policy.terminal_user", { policy: { runtime: "echo", terminalUser: "u".repeat(33) } }],
  ["input.input_id", { input: undefined }],
  ["input.input_id", { input: { ...input, inputId: ids.exe } }],
  ["input.text", { input: { ...input, text: "ü".repeat(524_289) } }],
  ["input.attachments", { input: { ...input, attachments: Array.from({ length: 11 }, () => ({})) } }],
  ["input.depth", { input: { ...input, depth: 17 } }],
  ["tools", { tools: [{ name: "a" }, { name: "a" }] }],
  ["tools", { tools: [{ name: "not a name" }] }],
  ["credentials", { credentials: [{ name: "", secret: "s" }] }],
  ["credentials", { credentials: [{ name: "a" }, { name: "a" }] }],
  ["outbox.directory", { outbox: { directory: "here", key: Buffer.alloc(32) } }],
  ["outbox.key", { outbox: { directory: "/outbox", key: Buffer.alloc(16) } }],
  ["budgets.approval", { budgets: { approval: { seconds: -1n, nanos: 0 } } }],
];
test.each(wrong)("OW34 OW39 F11 %s out of bounds is refused by its name alone (%#)", (field, changes) => {
  expect(fieldsRefused(bootstrap(changes))).toBe(`The bootstrap breaks the contract: ${field}.`);
});
