import { expect, test } from "vitest";

import { isAlive, readProcess } from "../../src/base/processTable.js";
import type { StoreOperation } from "../../src/gen/talaria/owner/v1/execution_store_service.js";
import { ConversationMessage, MessageRole } from "../../src/gen/talaria/types/v1/conversation.js";
import type { ForeignWorker } from "../kit/foreignWorkers.js";
import { beginRunningTurn, beginTurn } from "../kit/heldTurn.js";
import { refusalOf, sessionOf } from "../kit/turnClient.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";

const workers = useForeignWorkers();
const gateway = useTestGateway({
  agents: { foreign: { runtime: "command", worker: { command: workers.command } } },
  budgets: { exitAfterFinishedMs: 1_500 },
});

const begin = () => beginTurn(gateway(), workers);
const beginRunning = () => beginRunningTurn(gateway(), workers);
const append = (text: string): StoreOperation["operation"] & object => ({
  $case: "appendMessages",
  value: { messages: [ConversationMessage.fromPartial({ role: MessageRole.MESSAGE_ROLE_ASSISTANT, text })] },
});
const texts = (sessionId: string): string[] =>
  gateway()
    .rows<{ text: string }>("SELECT text FROM messages WHERE session_id = ? ORDER BY row", sessionId)
    .map(({ text }) => text);

/** Lets the next input of a session run to its end. */
async function expectFree(sessionId: string): Promise<void> {
  const run = gateway().client.say(sessionId, "next");
  const worker = await workers.next();
  await worker.running();
  worker.result({ finalResponse: "free" });
  await worker.leave();
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "free" });
}

test("OW-R23 a worker that has reported its end and goes on writing is refused, and nothing of it is kept", async () => {
  const { run, worker } = await beginRunning();
  const sessionId = await sessionOf(run);
  await worker.persist(1n, append("in time"));
  worker.result({ finalResponse: "over" });
  await worker.next("finish");
  expect(await refusalOf(worker.persist(2n, append("after the result")))).toBe("EXECUTION_ENDED");
  await worker.finishExecution(1n);
  expect(await refusalOf(worker.persist(2n, append("after its own end")))).toBe("EXECUTION_ENDED");
  expect(await refusalOf(worker.persist(2n, append("elsewhere"), worker.fence, worker.connectAgain()))).toBe(
    "PERMISSION_DENIED",
  );
  worker.exit(0);
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "over" });
  expect(texts(sessionId)).toEqual(["hello", "in time", "over"]);
});

test("OW-R24 what a dead run writes under its old generation, or in its own name, is refused and changes nothing", async () => {
  const lost = await beginRunning();
  const sessionId = await sessionOf(lost.run);
  const { fence: old } = lost.worker;
  lost.worker.exit(1);
  expect((await lost.run.outcome()).outcome).toBe("FAILED");
  const run = gateway().client.say(sessionId, "successor");
  const worker = await workers.next();
  await worker.running();
  expect(worker.fence.generation).toBeGreaterThan(old.generation);
  const late = { ...worker.fence, generation: old.generation };
  const before = texts(sessionId);
  expect(await refusalOf(worker.persist(1n, append("late"), late))).toBe("STALE_GENERATION");
  expect(await refusalOf(worker.persist(1n, append("late"), old))).toBe("PERMISSION_DENIED");
  expect(await refusalOf(worker.finishExecution(0n, late))).toBe("STALE_GENERATION");
  expect(texts(sessionId)).toEqual(before);
  await worker.persist(1n, append("mine"));
  worker.result({ finalResponse: "done" });
  await worker.leave(1n);
  expect((await run.outcome()).outcome).toBe("COMPLETED");
  expect(texts(sessionId)).toEqual([...before, "mine", "done"]);
});

const lossAt: readonly [string, string, (worker: ForeignWorker) => Promise<unknown>][] = [
  ["before hello", "FAILED", (worker) => worker.connected()],
  ["with its assignment", "FAILED", (worker) => worker.bootstrapped()],
  ["after Adopt", "FAILED", (worker) => worker.bootstrapped().then(() => worker.adopt())],
  ["while it runs", "FAILED", (worker) => worker.running()],
  [
    "after its result",
    "COMPLETED",
    async (worker) => {
      await worker.running();
      worker.result();
      await worker.next("finish");
    },
  ],
];
test.each(lossAt)("OW-R29 a worker that is lost %s leaves its session free", async (_when, outcome, come) => {
  const { run, worker } = await begin();
  await come(worker);
  worker.exit(1);
  expect((await run.outcome()).outcome).toBe(outcome);
  const sessionId = await sessionOf(run);
  await expectFree(sessionId);
  const open = gateway().rows("SELECT 1 FROM inputs WHERE session_id = ? AND outcome IS NULL", sessionId);
  expect(open).toEqual([]);
});

test("OW-R30 a second input waits however long the first holds the session: never refused, never beside it", async () => {
  const { run, worker } = await beginRunning();
  const sessionId = await sessionOf(run);
  const second = gateway().client.say(sessionId, "second");
  await second.next("inputQueued");
  // Its result is in and its outcome is told, but its process stays until it is killed.
  await worker.ignoreSigterm();
  worker.result({ finalResponse: "over" });
  expect((await run.outcome()).outcome).toBe("COMPLETED");
  const running = (): unknown[] =>
    gateway().rows("SELECT text FROM inputs WHERE session_id = ? AND state = 'started'", sessionId);
  expect(running()).toEqual([]);
  expect(second.kinds).toEqual(["inputQueued"]);
  const next = await workers.next();
  expect(isAlive(readProcess(worker.launched.pid))).toBe(false);
  await next.running();
  expect(running()).toEqual([{ text: "second" }]);
  next.result({ finalResponse: "then" });
  await next.leave();
  expect((await second.outcome()).answer).toBe("then");
});

test("AG-6 a store operation of an unknown kind is refused and everything goes on", async () => {
  const { run, worker } = await beginRunning();
  expect(await refusalOf(worker.persist(1n, undefined as never))).toBe("INVALID_FIELD");
  await worker.persist(1n, append("still here"));
  worker.result();
  expect((await run.outcome()).outcome).toBe("COMPLETED");
});

test("AD-4 AD-5 two writers of one revision: the second compaction is refused", async () => {
  const { run, worker } = await beginRunning();
  const { sessionRevision } = await worker.persist(1n, append("one"));
  const compact = (expectedRevision: bigint) =>
    ({
      $case: "compactConversation",
      value: { firstRow: 1n, lastRow: 2n, summary: "short", expectedRevision },
    }) as never;
  await worker.persist(2n, compact(sessionRevision));
  expect(await refusalOf(worker.persist(3n, compact(sessionRevision)))).toBe("STALE_REVISION");
  worker.result();
  await run.outcome();
});

test("AD-6 TE-4 Stop after the result changes nothing", async () => {
  const { run, worker } = await begin();
  await worker.running();
  worker.result({ finalResponse: "in time" });
  await worker.next("finish");
  expect(await refusalOf(gateway().client.stop(await run.started()))).toBe("EXECUTION_ENDED");
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "in time" });
});

test("AD-6 TE-4 Stop and result at the same moment leave one outcome", async () => {
  const { run, worker } = await begin();
  await worker.running();
  worker.say("close");
  await run.saw("close");
  const stopped = gateway()
    .client.stop(await run.started())
    .then(
      () => "stopped",
      () => "too late",
    );
  worker.result({ finalResponse: "close" });
  const ended = await run.outcome();
  expect(ended).toMatchObject({ outcome: "COMPLETED", answer: "close" });
  expect(["stopped", "too late"]).toContain(await stopped);
  await run.ended();
  expect(run.kinds.filter((kind) => kind === "turnEnded")).toHaveLength(1);
  const rows = gateway().rows("SELECT 1 FROM messages WHERE text = 'close'");
  expect(rows).toHaveLength(1);
});
