import { expect, test } from "vitest";

import {
  ExecutionStoreServiceService,
  type RunChildResponse,
} from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import { TurnPhase } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { TurnOutcome } from "../../src/gen/talaria/types/v1/result.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { StreamLog } from "../kit/streamLog.js";
import { sessionOf } from "../kit/turnClient.js";
import { beginRunningTurn } from "../kit/heldTurn.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { foreign: { runtime: "command", worker: { command: workers.command } } },
  maxWorkers: 1,
});

const beginRunning = () => beginRunningTurn(gateway(), workers);

/** What a worker is told of a child. */
class ChildLog extends StreamLog<RunChildResponse> {
  readonly #stream;

  constructor(worker: ForeignWorker, childId: string, task: string) {
    super(({ update }) => update?.$case);
    const request = { fence: worker.fence, childId, task };
    this.#stream = readStream(worker.client, ExecutionStoreServiceService.runChild, request);
    this.follow(this.#stream);
  }

  cancel(): void {
    this.#stream.cancel();
  }

  async accepted() {
    const { update } = await this.first("accepted", (one) => one.update?.$case === "accepted");
    if (update?.$case !== "accepted") throw new Error("not accepted");
    return update.value;
  }

  async outcome() {
    const { update } = await this.first("ended", (one) => one.update?.$case === "ended");
    if (update?.$case !== "ended") throw new Error("not ended");
    return update.value;
  }
}

async function finish(worker: ForeignWorker, answer: string, interrupted = false): Promise<void> {
  worker.result({ finalResponse: answer, interrupted });
  await worker.leave();
}

test("a call for the same child attaches to it again; leaving a call stops nothing; another task conflicts", async () => {
  const { run, worker } = await beginRunning();
  const first = new ChildLog(worker, "c1", "count");
  const { sessionId, inputId, replayed } = await first.accepted();
  expect(replayed).toBe(false);
  const child = await workers.next();
  const bootstrap = await child.running();
  expect(bootstrap).toMatchObject({ childDepth: 1, sessionId, tools: [], headless: false });
  expect(bootstrap.input).toMatchObject({ text: "count", author: { id: "agent:foreign" }, inputId });
  first.cancel();
  await first.ended();
  const again = new ChildLog(worker, "c1", "count");
  expect(await again.accepted()).toEqual({ sessionId, inputId, replayed: true });
  expect(await new ChildLog(worker, "c1", "other").ended()).toMatchObject({ reason: "REQUEST_CONFLICT" });
  await finish(child, "three");
  expect(await again.outcome()).toMatchObject({
    outcome: TurnOutcome.TURN_OUTCOME_COMPLETED,
    answer: "three",
    answerTruncated: false,
    failure: undefined,
  });
  const late = new ChildLog(worker, "c1", "count");
  expect(await late.outcome()).toMatchObject({ answer: "three" });
  await finish(worker, "done");
  expect((await run.outcome()).answer).toBe("done");
});

test("malformed tasks are refused and make nothing", async () => {
  const { run, worker } = await beginRunning();
  for (const [childId, task] of [
    ["", "count"],
    ["a b", "count"],
    ["x".repeat(65), "count"],
    ["c", " \n"],
    ["c", "x".repeat(16_385)],
    ["c", "a\0b"],
  ] as const) {
    expect(await new ChildLog(worker, childId, task).ended()).toMatchObject({ reason: "INVALID_FIELD" });
  }
  expect(gateway().rows("SELECT 1 FROM children WHERE execution_id = ?", worker.fence.executionId)).toEqual([]);
  await finish(worker, "done");
  await run.outcome();
});

test("a result of the parent ends its child, and the session is free only after it", async () => {
  const { run, worker } = await beginRunning();
  const log = new ChildLog(worker, "c1", "count");
  await log.accepted();
  const waiting = new ChildLog(worker, "c2", "wait");
  await waiting.accepted();
  const child = await workers.next();
  await child.running();
  await finish(worker, "early");
  expect((await run.outcome()).answer).toBe("early");
  const { cause } = await child.next("stop");
  expect(cause).toBe(7);
  const session = await sessionOf(run);
  const held = () =>
    gateway().rows("SELECT 1 FROM sessions WHERE session_id = ? AND running_execution_id IS NOT NULL", session);
  expect(held()).toHaveLength(1);
  await finish(child, "partly", true);
  await waitUntil("the session is free", () => held().length === 0, held);
  const outcomes = gateway().rows(
    "SELECT outcome FROM inputs JOIN children USING (input_id) WHERE children.execution_id = ? ORDER BY child_id",
    worker.fence.executionId,
  );
  expect(outcomes).toEqual([{ outcome: "interrupted" }, { outcome: "cancelled" }]);
});

test("a drain stops a parent and its child, and leaves no input of a child behind", async () => {
  const { worker } = await beginRunning();
  await new ChildLog(worker, "c1", "count").accepted();
  await new ChildLog(worker, "c2", "wait").accepted();
  const child = await workers.next();
  await child.running();
  const phases = () =>
    gateway()
      .rooms.owner.workers()
      .map(({ phase }) => phase);
  await waitUntil("both run", () => phases().every((phase) => phase === TurnPhase.TURN_PHASE_RUNNING), phases);
  const drained = gateway().rooms.owner.drain(0);
  await Promise.all([worker.next("stop"), child.next("stop")]);
  await drained;
  expect(gateway().workerPids()).toEqual([]);
  expect(gateway().rows("SELECT 1 FROM inputs WHERE state <> 'ended'")).toEqual([]);
});
