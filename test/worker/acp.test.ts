import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { readProcess } from "../../src/base/processTable.js";
import { DeltaChannel } from "../../src/gen/talaria/types/v1/event.js";
import { ApprovalChoice } from "../../src/gen/talaria/types/v1/prompt.js";
import { sessionOf, type UpdateLog } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor } from "../kit/waitFor.js";

const script = fileURLToPath(new URL("./acpAgent.mjs", import.meta.url));
const agent = (mode: string, more: object = {}) => ({
  runtime: "acp",
  worker: { command: [process.execPath, script, mode], env: { AGENT_KEY: "not-for-logs-7431" } },
  ...more,
});
const agents = {
  good: agent("good"),
  version: agent("version"),
  auth: agent("auth"),
  strange: agent("strange"),
  missing: { runtime: "acp", worker: { command: ["/nonexistent/agent"] } },
  behind: { runtime: "acp", worker: { command: ["/dev/null/agent"] } },
};
// An agent that is deaf to session/cancel has a second before it is killed, and the worker the rest for its result.
const budgets = { stopTermAfterMs: 4_000, stopKillAfterMs: 5_000, stopTotalMs: 8_000, drainMs: 20_000 };
const gateway = useTestGateway({ agents, budgets });

const eventsOf = (run: UpdateLog) =>
  run.items.flatMap(({ update }) => (update?.$case === "events" ? update.value.events : [])).map(({ event }) => event);

test("an agent's words are streamed as they come and are the answer", async () => {
  const run = gateway().client.run("good", "one two three");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "one two three" });
  expect(run.text).toBe("one two three");
});

test("its thoughts go apart from its answer", async () => {
  const run = gateway().client.run("good", "!think about it");
  expect((await run.outcome()).answer).toBe("thought");
  const thoughts = eventsOf(run).filter(
    (event) => event?.$case === "delta" && event.value.channel === DeltaChannel.DELTA_CHANNEL_REASONING,
  );
  expect(thoughts[0]?.value).toMatchObject({ text: "about it" });
});

test("its tool calls are tool events, and stand in the session with what was said before them", async () => {
  const { client, rows } = gateway();
  const run = client.run("good", "!tool sky");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "Done." });
  expect(run.text).toBe("Looking.\n\nDone.");
  const [, started, completed] = eventsOf(run);
  expect(started?.value).toMatchObject({ toolCallId: "t1", name: "read", arguments: { title: "Look", at: "sky" } });
  expect(completed?.value).toMatchObject({ toolCallId: "t1", result: "seen sky", isError: false });
  const session = await sessionOf(run);
  const kept = rows<{ role: string; text: string }>(
    "SELECT role, text FROM messages WHERE session_id = ? ORDER BY row",
    session,
  );
  expect(kept.map(({ text }) => text)).toEqual(["!tool sky", "Looking.", "seen sky", "Done."]);
  expect(kept[2]?.role).toBe("tool");

  const failed = client.run("good", "!tool nowhere");
  await failed.outcome();
  expect(eventsOf(failed)[2]?.value).toMatchObject({ isError: true, result: "seen nowhere" });
  const open = client.run("good", "!open");
  expect((await open.outcome()).outcome).toBe("COMPLETED");
  expect(eventsOf(open).map((event) => event?.$case)).toEqual(["toolStarted", "toolCompleted"]);
});

test("the next turn is told the conversation so far, the instructions and the input", async () => {
  const { client } = gateway();
  const first = client.run("good", "remember the sky");
  await first.outcome();
  const second = client.say(await sessionOf(first), "!prompt");
  const { answer } = await second.outcome();
  expect(answer).toMatch(
    /^# The conversation so far\n\n[^]*remember the sky\n\nAssistant: remember the sky\n\n# What to answer\n\n!prompt$/,
  );
});

test.each([
  [ApprovalChoice.APPROVAL_CHOICE_ONCE, "once"],
  [ApprovalChoice.APPROVAL_CHOICE_SESSION, "always"],
  [ApprovalChoice.APPROVAL_CHOICE_DENY, "no"],
] as const)("its request for permission is an approval, and the choice %i is its option %s", async (choice, option) => {
  const { client } = gateway();
  const run = client.run("good", `!permit rm -rf ${option}`);
  const prompt = await run.next("promptRaised");
  expect(prompt.request).toMatchObject({
    $case: "approval",
    value: { command: `rm -rf ${option}`, allowPermanent: false },
  });
  await client.choose(prompt.promptId, choice);
  expect((await run.outcome()).answer).toBe(`outcome: ${option}`);
});

test("nobody there denies its permission", async () => {
  const run = gateway().client.run("good", "!permit ls", { headless: true });
  expect((await run.outcome()).answer).toBe("outcome: no");
});

test("files that it asks for stay inside the workspace, links and all", async () => {
  const { client } = gateway();
  const outside = mkdtempSync(join(tmpdir(), "acp-"));
  try {
    const ask = async (text: string): Promise<string> => (await client.run("good", text).outcome()).answer;
    const place = await ask("!cwd");
    expect(await ask("!write notes/a.txt")).toBe("had: ok");
    expect(await ask("!read notes/a.txt")).toBe("had: written by the agent\n");
    expect(await ask("!write ../escape.txt")).toMatch(/^refused: .*outside the workspace/);
    writeFileSync(join(outside, "secret"), "secret");
    expect(await ask(`!read ${join(outside, "secret")}`)).toMatch(/^refused: /);
    symlinkSync(outside, join(place, "link"));
    expect(await ask("!read link/secret")).toMatch(/^refused: .*link/);
    expect(await ask("!write link/new")).toMatch(/^refused: .*link/);
    expect(existsSync(join(outside, "new"))).toBe(false);
    expect(readFileSync(join(place, "notes/a.txt"), "utf8")).toBe("written by the agent\n");
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});

test("it is given its own variables and no others of the gateway's", async () => {
  const { client } = gateway();
  const { answer } = await client.run("good", "!env AGENT_KEY").outcome();
  expect(answer).not.toBe("unset");
  expect(answer).not.toContain("not-for-logs");
  expect((await client.run("good", "!env TALARIA_OWNER_SOCKET").outcome()).answer).toBe("unset");
});

test.each(["!wait", "!deaf", "!permit ls"])("Stop ends %s, with nothing left of it", async (text) => {
  const { client } = gateway();
  const run = client.run("good", text);
  const executionId = await run.started();
  await (text.startsWith("!permit") ? run.next("promptRaised") : run.next("events"));
  await client.stop(executionId);
  expect(await run.outcome()).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_STOPPED" });
});

test("what it starts ends with it", async () => {
  const { answer } = await gateway().client.run("good", "!child").outcome();
  const pid = Number(/\d+/.exec(answer)?.[0]);
  await waitFor("end of the child", () => (readProcess(pid) === undefined ? { found: true } : { state: "it lives" }));
});

test.each([
  ["good", "!crash", "RUNTIME_FAILED", "The agent ended with code 3: the sky is falling"],
  ["good", "!refuse", "RUNTIME_FAILED", "The agent refuses to go on."],
  ["good", "!reason", "RUNTIME_FAILED", "The agent's answer to session/prompt holds no stopReason."],
  ["good", "!reason whim", "RUNTIME_FAILED", "The agent ended its turn for a reason that is not known: whim."],
  ["good", "!hang-up", "RUNTIME_FAILED", "The agent ended its conversation in the middle of its turn."],
  ["good", "!error", "RUNTIME_FAILED", "The agent failed: no quota left"],
  ["version", "hello", "RUNTIME_CONFIG", "The agent speaks revision 9 of its protocol, and not 1."],
  ["auth", "hello", "PROVIDER_AUTH", "The agent wants its user to sign in: Authentication required"],
  ["strange", "hello", "RUNTIME_FAILED", "it writes lines that are no messages"],
  ["missing", "hello", "RUNTIME_CONFIG", "The agent's program cannot be started: /nonexistent/agent."],
  ["behind", "hello", "RUNTIME_CONFIG", "The agent's program cannot be started: /dev/null/agent."],
])("the agent %s told %s fails the turn with %s", async (name, text, reason, message) => {
  const ended = await gateway().client.run(name, text).outcome();
  expect(ended).toMatchObject({ outcome: "FAILED", reason });
  expect(ended.message).toContain(message);
});
