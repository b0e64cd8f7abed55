import { expect, test } from "vitest";

import { ApprovalChoice, PromptEnd } from "../../src/gen/talaria/types/v1/prompt.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const { APPROVAL_CHOICE_ONCE, APPROVAL_CHOICE_DENY } = ApprovalChoice;
const gateway = useTestGateway({ poolSize: 2 });

test("AD-1 inputs that come at once for one session run in the order of their arrival, one at a time", async () => {
  const { client } = gateway();
  const first = client.run("echo", "0");
  const sessionId = await sessionOf(first);
  const runs = [first, ...Array.from({ length: 19 }, (_, index) => client.say(sessionId, String(index + 1)))];
  // The calls are made on one connection and so admitted in order; each end is waited for once the one before it has come.
  const ends = [];
  for (const run of runs) ends.push(await run.outcome());
  const rows = gateway().rows<{ text: string; started_at: number; ended_at: number }>(
    "SELECT text, started_at, ended_at FROM inputs WHERE session_id = ? ORDER BY started_at, sequence",
    sessionId,
  );
  expect(ends.map(({ answer }) => answer)).toEqual(runs.map((_, index) => String(index)));
  expect(rows.map(({ text }) => text)).toEqual(runs.map((_, index) => String(index)));
  rows.slice(1).forEach((row, index) => {
    expect(row.started_at).toBeGreaterThanOrEqual(rows[index]?.ended_at ?? Number.POSITIVE_INFINITY);
  });
});

test("LE-4 a queued input can be withdrawn: it never runs and no later turn sees it", async () => {
  const { client } = gateway();
  const running = client.run("echo", "!approve wait");
  const sessionId = await sessionOf(running);
  const { promptId } = await running.next("promptRaised");
  const second = client.say(sessionId, "never");
  const third = client.say(sessionId, "!history");
  const queued = await second.next("inputQueued");
  expect(queued.turn?.position).toBe(1);
  expect((await third.next("inputQueued")).turn?.position).toBe(2);
  const cancelled = await client.cancelInput(queued.turn?.inputId ?? "");
  expect(cancelled.outcome).toBe("CANCELLED");
  expect((await second.outcome()).outcome).toBe("CANCELLED");
  expect((await client.cancelInput(queued.turn?.inputId ?? "")).outcome).toBe("CANCELLED");
  await client.choose(promptId, 1);
  await running.outcome();
  expect((await third.outcome()).answer).not.toContain("never");
  expect(await refusalOf(client.cancelInput((await running.outcome()).turn.inputId))).toBe("INPUT_NOT_QUEUED");
});

test("OW44 OW-R48 a turn's own usage is recorded once, and its session adds it up", async () => {
  const { client, rows } = gateway();
  const run = client.run("echo", "!usage 7 3 0.5\n!say counted");
  const sessionId = await sessionOf(run);
  const { turn } = await run.outcome();
  expect(turn.usage).toMatchObject({ inputTokens: 7n, outputTokens: 3n, totalTokens: 10n, estimatedCostUsd: 0.5 });
  await client.say(sessionId, "!usage 2 1 0.25").outcome();
  expect(rows("SELECT input_tokens, output_tokens, cost_usd FROM sessions WHERE session_id = ?", sessionId)).toEqual([
    { input_tokens: 9, output_tokens: 4, cost_usd: 0.75 },
  ]);
});

test("SY-8 Stop names one execution and touches no other", async () => {
  const { client } = gateway();
  const [one, two] = [client.run("echo", "!approve a"), client.run("echo", "!approve b")];
  const prompt = await two.next("promptRaised");
  await one.next("promptRaised");
  await client.stop(await one.started());
  expect((await one.outcome()).outcome).toBe("INTERRUPTED");
  await client.choose(prompt.promptId, ApprovalChoice.APPROVAL_CHOICE_ONCE);
  expect((await two.outcome()).outcome).toBe("COMPLETED");
});

test("MF-2 an answer reaches the worker and every viewer once; a repeat is taken, another late one is told so", async () => {
  const { client, connect } = gateway();
  const run = client.run("echo", "!approve make");
  const prompt = await run.next("promptRaised");
  const watch = connect().watch(await sessionOf(run));
  expect((await watch.next("snapshot")).prompts.map(({ promptId }) => promptId)).toEqual([prompt.promptId]);
  expect(await client.choose(prompt.promptId, APPROVAL_CHOICE_ONCE)).toMatchObject({
    end: PromptEnd.PROMPT_END_ANSWERED,
    choice: APPROVAL_CHOICE_ONCE,
    answeredBy: { id: "client:socket" },
  });
  for (const seen of [await run.next("promptEnded"), await watch.next("promptEnded")]) {
    expect(seen).toMatchObject({ promptId: prompt.promptId, end: PromptEnd.PROMPT_END_ANSWERED });
  }
  expect((await run.outcome()).answer).toContain("approved");
  expect(await client.choose(prompt.promptId, APPROVAL_CHOICE_ONCE)).toMatchObject({ choice: APPROVAL_CHOICE_ONCE });
  expect(await refusalOf(client.choose(prompt.promptId, APPROVAL_CHOICE_DENY))).toBe("PROMPT_ALREADY_RESOLVED");
  expect(await client.prompts(await sessionOf(run))).toEqual([]);
  watch.cancel();
});
