import { afterAll, expect, test } from "vitest";

import { Usage } from "../../src/gen/talaria/types/v1/result.js";
import type { RecordUsage } from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { beginRunningTurn } from "../kit/heldTurn.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { calling, hanging, saying, SCRIPTED_USAGE } from "../kit/scriptedModelReplies.js";
import { refusalOf } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const model = await startScriptedModel();
const played = { runtime: "command", worker: { command: workers.command } };
const names = ["replaced", "lost", "recorded", "broken"] as const;
const gateway = useTestGateway({
  agents: {
    asking: model.agent("asking", { budget: { tokens_per_day: SCRIPTED_USAGE.prompt_tokens } }),
    ...Object.fromEntries(names.map((name) => [name, played])),
  },
});
afterAll(() => model.close());

const begin = (agent: (typeof names)[number]) => beginRunningTurn(gateway(), workers, agent);

/** Says what was used so far, and waits until the owner has heard it. */
async function tell(worker: ForeignWorker, usage: Partial<Usage>): Promise<void> {
  const value = { loopDelayMs: 0, residentBytes: 0n, usage: Usage.fromPartial(usage) };
  worker.send({ $case: "heartbeat", value });
  await worker.beat();
}

const record = (inputTokens: bigint): { readonly $case: "recordUsage"; readonly value: RecordUsage } => ({
  $case: "recordUsage",
  value: {
    provider: "p",
    model: "m",
    purpose: "",
    inputTokens,
    outputTokens: 0n,
    cacheReadTokens: 0n,
    cacheWriteTokens: 0n,
    reasoningTokens: 0n,
    apiCalls: 1,
    estimatedCostUsd: 0.25,
  },
});

/** What counts for an agent's day. */
const dayOf = (agent: string): object | undefined =>
  gateway().rows(
    `SELECT input_tokens AS input, output_tokens AS output, reasoning_tokens AS reasoning, api_calls AS calls, cost_usd AS cost
     FROM usage_days WHERE agent = ?`,
    agent,
  )[0];

test("OW-R48 what a killed worker's model calls had used counts, and so an agent's budget is reached by it", async () => {
  model.script("asking", calling({ id: "r", name: "read_file", arguments: { path: "none" } }), hanging());
  const run = gateway().client.run("asking", "hello");
  await model.asked("asking", 2);
  for (const pid of gateway().workerPids()) process.kill(pid, "SIGKILL");
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "WORKER_EXITED" });
  const input = SCRIPTED_USAGE.prompt_tokens;
  const output = SCRIPTED_USAGE.completion_tokens;
  expect(dayOf("asking")).toMatchObject({ input, output, calls: 1 });
  const sessions = gateway().rows("SELECT input_tokens, output_tokens FROM sessions WHERE agent = 'asking'");
  expect(sessions).toEqual([{ input_tokens: input, output_tokens: output }]);
  model.script("asking", saying("Too late."));
  expect(await gateway().client.run("asking", "again").ended()).toMatchObject({ reason: "BUDGET_REACHED" });
});

test("the last figures that were heard count once for a lost turn", async () => {
  const { run, worker } = await begin("lost");
  await tell(worker, { inputTokens: 10n, outputTokens: 1n, apiCalls: 1 });
  await tell(worker, {
    inputTokens: 30n,
    outputTokens: 3n,
    reasoningTokens: 2n,
    apiCalls: 2,
    estimatedCostUsd: 0.5,
  });
  worker.exit(3);
  expect((await run.outcome()).outcome).toBe("FAILED");
  expect(dayOf("lost")).toEqual({ input: 30, output: 3, reasoning: 2, calls: 2, cost: 0.5 });
});

test("a result's figures take the place of those heard before it, also where its worker is lost afterwards", async () => {
  const { run, worker } = await begin("replaced");
  await tell(worker, { inputTokens: 30n, apiCalls: 2 });
  worker.result({ turnInputTokens: 20n, turnOutputTokens: 4n, apiCalls: 1 });
  await worker.next("finish");
  await tell(worker, { inputTokens: 99n, apiCalls: 9 });
  worker.exit(3);
  expect((await run.outcome()).outcome).toBe("COMPLETED");
  expect(dayOf("replaced")).toMatchObject({ input: 20, output: 4, calls: 1 });
});

test("what a lost turn has recorded itself counts once, and only what is left of it is added", async () => {
  const { run, worker } = await begin("recorded");
  await tell(worker, { inputTokens: 30n, apiCalls: 2, estimatedCostUsd: 0.5 });
  await worker.persist(1n, record(25n));
  await worker.persist(1n, record(25n));
  expect(await refusalOf(worker.persist(3n, record(5n)))).toBe("STALE_SEQUENCE");
  worker.send({ $case: "error", value: { reason: 0, message: "cannot go on" } });
  expect((await run.outcome()).outcome).toBe("FAILED");
  expect(dayOf("recorded")).toMatchObject({ input: 30, calls: 2, cost: 0.5 });
});

test("a heartbeat whose figures are out of their bounds ends the turn, and what was heard before it counts", async () => {
  const { run, worker } = await begin("broken");
  await tell(worker, { inputTokens: 7n });
  const usage = Usage.fromPartial({ inputTokens: 2n ** 53n + 1n });
  worker.send({ $case: "heartbeat", value: { loopDelayMs: 0, residentBytes: 0n, usage } });
  expect(await run.outcome()).toMatchObject({ outcome: "FAILED", reason: "FRAME_INVALID" });
  expect(dayOf("broken")).toMatchObject({ input: 7 });
});
