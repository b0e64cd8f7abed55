import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Reason } from "../../src/gen/talaria/reason/v1/reason.js";
import { ApprovalChoice, PromptEnd } from "../../src/gen/talaria/types/v1/prompt.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import type { Attachment } from "./scriptedOwner.js";
import type { LaunchedWorker } from "./launchedWorker.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const fixture = useScriptedOwner();

async function finish(worker: LaunchedWorker, attachment: Attachment): Promise<void> {
  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.end();
  expect(await worker.exited()).toEqual({ code: 0, signal: null });
}

test("tools, messages, titles, rows, usage and output do what they say", async () => {
  const script = [
    "!say !not a directive",
    '!tool search {"q":"a => b","key":"hunter2secret"} => found it',
    "!tool-error fetch => refused",
    "!dm bob hello",
    "!dm nobody hello",
    "!check last",
    "!title A title",
    "!append a row",
    "!history",
    "!usage 12 34 0.5",
    "!usage 1 2 NaN",
    "!stdout on stdout",
    "!stderr on stderr",
    "!mute 1",
    "!spin 1",
    "!sleep 1",
    "the end",
  ].join("\n");
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap(script, { credentials: [{ name: "key", secret: "hunter2secret" }] });
  const { result } = await attachment.next("result");
  expect(result?.finalResponse.split("\n")).toEqual([
    "!not a directive",
    "search: found it",
    "fetch failed: refused",
    "dm to bob: del_1 queued",
    "dm to nobody: refused UNKNOWN_TARGET",
    "delivery: del_1 replied pong",
    "title: A title",
    "appended: row 2",
    "history: 1 rows, last user: earlier",
    "the end",
  ]);
  expect(attachment.text).toBe(result?.finalResponse);
  expect(result).toMatchObject({ turnInputTokens: 13n, turnOutputTokens: 36n, estimatedCostUsd: 0.5, apiCalls: 2 });
  const events = attachment.frames.flatMap(({ frame }) => (frame?.$case === "events" ? frame.value.events : []));
  const tools = events.flatMap(({ event }) => (event?.$case === "toolStarted" ? [event.value] : []));
  expect(tools.map(({ name }) => name)).toEqual(["search", "fetch"]);
  expect(tools[0]?.arguments).toEqual({ q: "a => b", key: "[redacted]" });
  expect(fixture.owner.store.persists.map(({ sequence }) => sequence)).toEqual([1n, 2n]);
  await finish(worker, attachment);
  expect(worker.output).toBe("on stdout\n");
  expect(worker.log).toContain("on stderr");
});

test("an approval is answered by its exact id, and a question batch in order", async () => {
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap(
    "!approve make deploy\n!approve make deploy\n!ask Colour? | red | blue\n!ask Why?\n!approve rm x",
  );
  const approval = await attachment.next("approval");
  expect(approval.request).toMatchObject({ command: "make deploy", allowSession: true });
  const answer = (promptId: string, choice: ApprovalChoice): void => {
    attachment.send({ $case: "approvalAnswer", value: { promptId, choice, end: PromptEnd.PROMPT_END_ANSWERED } });
  };
  answer("prm_of_nobody", ApprovalChoice.APPROVAL_CHOICE_DENY);
  answer(approval.promptId, ApprovalChoice.APPROVAL_CHOICE_SESSION);
  const first = await attachment.next("clarify");
  expect(first.request).toMatchObject({
    position: 1,
    total: 2,
    question: { text: "Colour?", choices: ["red", "blue"] },
  });
  attachment.send({ $case: "clarifyAnswer", value: { promptId: first.promptId, text: " red ", end: 1 } });
  const second = await attachment.next("clarify");
  attachment.send({ $case: "clarifyAnswer", value: { promptId: second.promptId, text: " ", end: 1 } });
  const last = await attachment.next("approval");
  attachment.send({ $case: "promptRefused", value: { promptId: last.promptId, reason: Reason.REASON_PROMPT_LIMIT } });
  const { result } = await attachment.next("result");
  expect(result?.finalResponse).toBe(
    "approved: session\napproved: granted\nclarify: submitted\nq1: red\ndenied: refused",
  );
  expect(attachment.kinds).not.toContain("promptSettled");
  await finish(worker, attachment);
});

test("OW42 prompts that nobody answers end in the worker and say so; headless ones are never raised", async () => {
  const { worker, attachment } = await fixture.attach();
  const short = { seconds: 0n, nanos: 50_000_000 };
  attachment.bootstrap("!approve x\n!ask y", { budgets: { approval: short, clarify: short } });
  const approval = await attachment.next("approval");
  expect(await attachment.next("promptSettled")).toEqual({
    promptId: approval.promptId,
    end: PromptEnd.PROMPT_END_EXPIRED,
  });
  await attachment.next("promptSettled");
  const { result } = await attachment.next("result");
  expect(result?.finalResponse).toBe("denied: expired\nclarify: timed_out");
  await finish(worker, attachment);

  const headless = await fixture.attach();
  headless.attachment.bootstrap("!approve x\n!approve known\n!ask y", { headless: true, grantedCommands: ["known"] });
  const second = await headless.attachment.next("result");
  expect(second.result?.finalResponse).toBe("denied: headless\napproved: granted\nclarify: skipped");
  expect(headless.attachment.kinds).not.toContain("approval");
  await finish(headless.worker, headless.attachment);
});

test("silence is the marker alone, and failures carry their reason", async () => {
  const silent = await fixture.attach();
  silent.attachment.bootstrap("unheard\n!silent");
  expect((await silent.attachment.next("result")).result?.finalResponse).toBe("[SILENT]");
  expect(silent.attachment.text).toBe("");
  await finish(silent.worker, silent.attachment);

  const failing = await fixture.attach();
  failing.attachment.bootstrap("before\n!fail PROVIDER_RATE_LIMIT slow down\nafter");
  expect((await failing.attachment.next("result")).result).toMatchObject({
    failed: true,
    completed: false,
    finalResponse: "before",
    error: "slow down",
    failureReason: Reason.REASON_PROVIDER_RATE_LIMIT,
    failureRetryable: true,
  });
  await finish(failing.worker, failing.attachment);

  const unknown = await fixture.attach();
  unknown.attachment.bootstrap("!dance");
  expect((await unknown.attachment.next("result")).result).toMatchObject({
    failed: true,
    error: 'There is no directive "!dance".',
    failureReason: Reason.REASON_RUNTIME_FAILED,
  });
  await finish(unknown.worker, unknown.attachment);
});

test("F26 F31 an answer over 1 MiB goes in pieces through the store, which repeats a lost write under its number", async () => {
  const { owner } = fixture;
  const from = owner.store.persists.length;
  let losses = 1;
  owner.onPersist = () => {
    if (losses-- > 0) throw new RpcError("UNAVAILABLE");
  };
  const { worker, attachment } = await fixture.attach();
  attachment.bootstrap("!repeat 700000 äöü");
  const { result } = await attachment.next("result");
  const whole = "äöü".repeat(700_000);
  expect(result?.finalResponse).toBe("");
  expect(result?.answer?.sizeBytes).toBe(BigInt(Buffer.byteLength(whole)));
  expect(result?.answer?.sha256.equals(createHash("sha256").update(whole).digest())).toBe(true);
  const writes = owner.store.persists.slice(from);
  expect(writes.map(({ sequence }) => sequence)).toEqual([1n, 2n, 3n, 4n, 5n].slice(0, writes.length));
  const pieces = writes.map(({ operation }) =>
    operation?.operation?.$case === "appendAnswerChunk" ? operation.operation.value.text : "",
  );
  expect(pieces.every((piece) => Buffer.byteLength(piece) <= 1_048_576)).toBe(true);
  expect(pieces.join("") === whole).toBe(true);
  owner.onPersist = () => undefined;
  await finish(worker, attachment);
});
