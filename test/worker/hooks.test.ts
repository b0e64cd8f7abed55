import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { isAlive, readProcess } from "../../src/base/processTable.js";
import { AuthorKind } from "../../src/gen/talaria/types/v1/author.js";
import { Bootstrap } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { HookEvent } from "../../src/gen/talaria/types/v1/policy.js";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import type { CheckedBootstrap } from "../../src/worker/checkBootstrap.js";
import { createTurnHooks } from "../../src/worker/hooks/turnHooks.js";
import { waitFor } from "../kit/waitFor.js";
import type { Attachment } from "./scriptedOwner.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const fixture = useScriptedOwner();
const SCRIPT = join(import.meta.dirname, "hooks", "note.mjs");
const { HOOK_EVENT_TURN_STARTED: started, HOOK_EVENT_TURN_ENDED: ended } = HookEvent;
const { HOOK_EVENT_TOOL_STARTED: toolStarted, HOOK_EVENT_TOOL_COMPLETED: toolCompleted } = HookEvent;
const { HOOK_EVENT_MEMORY_RECALL: recall, HOOK_EVENT_MEMORY_STORE: store } = HookEvent;

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "th-"));
  file = join(directory, "notes");
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const hook = (event: HookEvent, ...more: string[]) => ({ event, command: [process.execPath, SCRIPT, file, ...more] });
const AUTHOR = { kind: AuthorKind.AUTHOR_KIND_PEER_AGENT, id: "agent:east/bob", displayName: "Bob" };

interface Note {
  readonly event: string;
  readonly [key: string]: unknown;
}

function notes(): readonly Note[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Note);
}

function noted(event: string): Promise<Note> {
  return waitFor(`the note of ${event}`, () => {
    const found = notes().find((note) => note.event === event);
    return found === undefined ? { state: notes() } : { found };
  });
}

/** Starts a turn with hooks. */
async function begin(
  text: string,
  hooks: readonly { event: HookEvent; command: string[]; timeout?: { seconds: bigint; nanos: number } }[],
  more: Parameters<Attachment["bootstrap"]>[1] = {},
) {
  const { worker, attachment } = await fixture.attach();
  await attachment.next("hello");
  const bootstrap = attachment.bootstrap(text, {
    policy: { runtime: "echo", hooks: [...hooks], ...more.policy },
    budgets: more.budgets ?? {},
    input: { inputId: `inp_${"0".repeat(26)}`, text, author: AUTHOR },
  });
  return { worker, attachment, bootstrap };
}

async function finish({ worker, attachment }: Pick<Awaited<ReturnType<typeof begin>>, "worker" | "attachment">) {
  const { result } = await attachment.next("result");
  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.end();
  expect(await worker.exited()).toEqual({ code: 0, signal: null });
  return result;
}

test("OW49 each event of a turn runs its hooks in order, with the author, before the result is sent", async () => {
  const every = [recall, started, toolStarted, toolCompleted, store, ended].map((event) => hook(event));
  const turn = await begin('Hello\n!tool look {"api_key":"sk-12345678"} => found\n!usage 3 4', every);
  const { result } = await turn.attachment.next("result");
  expect(notes().map(({ event }) => event)).toEqual([
    "memory_recall",
    "turn_started",
    "tool_started",
    "tool_completed",
    "memory_store",
    "turn_ended",
  ]);
  const [recalled, begun, tool, toolEnd, stored, end] = notes();
  expect(recalled).toMatchObject({
    execution_id: turn.bootstrap.executionId,
    session_id: turn.bootstrap.sessionId,
    agent: "echo",
    author: { kind: "peer_agent", id: "agent:east/bob", display_name: "Bob" },
  });
  expect(String(begun?.["text"])).toMatch(/^Hello\n/);
  expect(tool?.["tool"]).toEqual({ call_id: "call_1", name: "look", arguments: { api_key: "[redacted]" } });
  expect(toolEnd).toMatchObject({ result: "found", is_error: false });
  expect(stored).toMatchObject({
    outcome: "completed",
    answer: result?.finalResponse,
    author: { id: "agent:east/bob" },
  });
  expect(end).toMatchObject({ outcome: "completed", answer: result?.finalResponse });
  expect(result?.promptTokens).toBe(3n);
  turn.attachment.send({ $case: "finish", value: {} });
  await turn.attachment.next("finished");
  turn.attachment.end();
  await turn.worker.exited();
});

test("what memory recalls is cut, and several hooks are joined", async () => {
  const bootstrap = Bootstrap.fromPartial({
    policy: { hooks: [hook(recall, "say", "first "), hook(recall, "fail"), hook(recall, "say", "x".repeat(20_000))] },
    input: { text: "Hello", author: AUTHOR },
  });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const hooks = createTurnHooks({
    bootstrap: bootstrap as CheckedBootstrap,
    environment: process.env,
    clock: systemClock,
    log,
    signal: new AbortController().signal,
    redact: (text) => text,
  });
  const text = await hooks.recall();
  expect(text).toMatch(/^first\n\nx+…$/);
  expect(text).toHaveLength(16_384);
  expect(notes()).toHaveLength(3);
});

test.each([
  ["OW36 safe mode runs no hook", { safeMode: true, ignoreUserConfig: true }, []],
  ["without rules there is no memory", { ignoreRules: true }, ["turn_started", "turn_ended"]],
])("%s", async (_, policy, expected) => {
  const turn = await begin("Hello", [hook(recall), hook(started), hook(store), hook(ended)], { policy });
  await finish(turn);
  expect(notes().map(({ event }) => event)).toEqual(expected);
});

test("hooks that fail, flood, cannot be started or read nothing fail no turn and are logged", async () => {
  const turn = await begin("Hello", [
    hook(started, "fail"),
    { event: started, command: ["/no/such/hook"] },
    { event: started, command: ["true"] },
    hook(ended, "flood"),
  ]);
  expect(await finish(turn)).toMatchObject({ completed: true, finalResponse: "Hello" });
  expect(turn.worker.log).toContain("exited with code 3: out of order");
  expect(turn.worker.log).toContain("cannot be started: ENOENT");
  expect(turn.worker.output).toBe("");
});

test("a hook that hangs is killed at its time with what it started, and the turn goes on", async () => {
  const turn = await begin("Hello", [{ ...hook(started, "hang"), timeout: { seconds: 1n, nanos: 0 } }, hook(ended)]);
  expect(await finish(turn)).toMatchObject({ completed: true });
  const { pid, child } = (await noted("hanging")) as unknown as { readonly pid: number; readonly child: number };
  expect([isAlive(readProcess(pid)), isAlive(readProcess(child))]).toEqual([false, false]);
  expect(turn.worker.log).toContain("took longer than 1000 ms and was killed");
  expect(notes().at(-1)).toMatchObject({ event: "turn_ended" });
});

test("Stop ends a hook that runs", async () => {
  const turn = await begin("Hello", [hook(recall, "hang")]);
  await noted("hanging");
  turn.attachment.send({ $case: "stop", value: { cause: 1 } });
  expect(await finish(turn)).toMatchObject({ interrupted: true });
});

test("hooks at the end share the turn-final budget, and the result comes after it", async () => {
  const turn = await begin("Hello", [hook(store, "hang"), hook(ended)], {
    budgets: { turnFinal: { seconds: 1n, nanos: 0 } },
  });
  expect(await finish(turn)).toMatchObject({ completed: true, finalResponse: "Hello" });
  expect(turn.worker.log).toContain("a turn's last work took too long");
  expect(notes().map(({ event }) => event)).toEqual(["hanging"]);
});

test("a turn that is stopped has its last work too, shortly", async () => {
  const turn = await begin("Hello\n!sleep 60000", [hook(store), hook(ended)]);
  await turn.attachment.until("the text", () => (turn.attachment.text === "Hello" ? { value: true } : undefined));
  turn.attachment.send({ $case: "stop", value: { cause: 1 } });
  expect(await finish(turn)).toMatchObject({ interrupted: true });
  expect(notes()).toMatchObject([
    { event: "memory_store", outcome: "stopped", answer: "Hello" },
    { event: "turn_ended", outcome: "stopped" },
  ]);
});

test("a turn that fails, in its answer or by throwing, has its last work, and its usage is not lost", async () => {
  const failing = await begin("!fail PROVIDER_QUOTA Too much", [hook(ended)]);
  expect(await finish(failing)).toMatchObject({ failed: true, failureReason: Reason.REASON_PROVIDER_QUOTA });
  const throwing = await begin("!usage 5 6\n!error boom", [hook(store), hook(ended)]);
  const error = await throwing.attachment.next("error");
  expect(error.reason).toBe(Reason.REASON_RUNTIME_FAILED);
  expect(notes()).toMatchObject([
    { event: "turn_ended", outcome: "failed", failure: { reason: "PROVIDER_QUOTA", message: "Too much" } },
    { event: "memory_store", outcome: "failed" },
    { event: "turn_ended", outcome: "failed", failure: { reason: "RUNTIME_FAILED", message: "boom" } },
  ]);
  expect(fixture.owner.store.persists.at(-1)?.operation?.operation).toMatchObject({
    $case: "recordUsage",
    value: { inputTokens: 5n, outputTokens: 6n },
  });
  throwing.attachment.end();
  await throwing.worker.exited();
});

test("a worker that cannot be built runs the last hook and says why in its error", async () => {
  const turn = await begin("Hello", [hook(store), hook(ended)], { policy: { runtime: "nothing" } });
  expect((await turn.attachment.next("error")).reason).toBe(Reason.REASON_RUNTIME_CONFIG);
  expect(notes()).toMatchObject([{ event: "turn_ended", outcome: "failed", failure: { reason: "RUNTIME_CONFIG" } }]);
  turn.attachment.end();
  await turn.worker.exited();
});
