import { afterAll, beforeAll, expect, test } from "vitest";

import { transcriptOf } from "./testing/transcriptOf.js";
import { fresh, TurnBench } from "./testing/turnBench.js";
import { openStore, type Store } from "../store.js";
import { tempHome } from "../testing/tempHome.js";
import { acknowledgeUnknown } from "./acknowledgeUnknown.js";
import { adoptExecution } from "./adoptExecution.js";
import type { StoredFence } from "./fence.js";
import { finishExecution } from "./finishExecution.js";
import { persistOperation } from "./persistOperation.js";
import { raisePrompt } from "./raisePrompt.js";
import { releaseSession } from "./releaseSession.js";
import type { StoreOperationPlan } from "./storeOperation.js";

const home = tempHome();
let store: Store;
let bench: TurnBench;
beforeAll(async () => {
  store = await openStore(home.paths, { copyData: true });
  bench = new TurnBench(store);
});
afterAll(async () => {
  await store.close();
  home.remove();
});

const append = (text: string): StoreOperationPlan => ({
  kind: "append",
  messages: [{ role: "assistant", text, author: { kind: "local_agent", id: "a", displayName: "a", sentBy: "" } }],
});

function persist(fence: StoredFence, sequence: number, operation: StoreOperationPlan, digest = operation) {
  return store.writer.execute(persistOperation, {
    fence,
    epoch: store.epoch,
    sequence,
    digest: Buffer.from(JSON.stringify(digest)),
    operation,
    maxAnswerBytes: 100,
    now: bench.now,
  });
}

async function running(): Promise<{ readonly sessionId: string; readonly fence: StoredFence }> {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true });
  return { sessionId, fence: await bench.run(sessionId) };
}

test("OW14 OW23 a write that was queued before a settlement and runs after it writes nothing", async () => {
  const { sessionId, fence } = await running();
  const before = transcriptOf(store, sessionId).length;
  // One batch: the settlement first, then the writer that does not know of it yet.
  const [lost, written, result, prompt, finish] = await Promise.all([
    bench.lose(fence.executionId, "failed"),
    persist(fence, 1, append("stale")),
    bench.result(fence),
    store.writer.execute(raisePrompt, {
      promptId: "prm_stale",
      fence,
      epoch: store.epoch,
      workerPromptId: "p",
      request: Buffer.alloc(0),
      maxOpen: 16,
      now: bench.now,
    }),
    store.writer.execute(finishExecution, { fence, epoch: store.epoch, lastSequence: 0 }),
  ]);
  expect(lost.kind).toBe("lost");
  for (const stale of [written, result, prompt, finish]) expect(stale).toEqual({ kind: "stale", problem: "ended" });
  const added = transcriptOf(store, sessionId).slice(before);
  expect(added.map(({ role, boundary }) => ({ role, boundary }))).toEqual([{ role: "system", boundary: 1 }]);
  expect(store.reader.all("SELECT 1 FROM prompts WHERE prompt_id = 'prm_stale'")).toEqual([]);
});

test("OW23 a result and a loss in one batch: the first one stands", async () => {
  const first = await running();
  const [result, lost] = await Promise.all([bench.result(first.fence), bench.lose(first.fence.executionId, "unknown")]);
  expect(result.kind).toBe("committed");
  expect(lost).toEqual({ kind: "settled_before", outcome: "completed" });
  const [paused] = store.reader.all<{ paused: string | null }>(
    "SELECT paused_execution_id AS paused FROM sessions WHERE session_id = ?",
    first.sessionId,
  );
  expect(paused?.paused).toBeNull();
});

test("OW23 every fence has its own reason", async () => {
  const { fence } = await running();
  const problem = async (changed: Partial<StoredFence>): Promise<unknown> => {
    const result = await persist({ ...fence, ...changed }, 1, append("x"));
    return result.kind === "stale" ? result.problem : result.kind;
  };
  expect(await problem({ executionId: "exe_none" })).toBe("unknown_execution");
  expect(await problem({ epoch: fence.epoch - 1 })).toBe("stale_epoch");
  expect(await problem({ generation: fence.generation - 1 })).toBe("stale_generation");
  const other = await store.writer.execute(adoptExecution, {
    fence,
    epoch: store.epoch,
    adoptionDigest: Buffer.alloc(32, 8),
  });
  expect(other).toEqual({ kind: "mismatch" });
  expect(await problem({})).toBe("committed");
});

test("OW22 OW23 an operation is kept once: replayed by content, refused with other content or with a gap", async () => {
  const { sessionId, fence } = await running();
  const first = await persist(fence, 1, append("one"));
  expect(await persist(fence, 1, append("one"))).toEqual({ ...first, replayed: true });
  expect(await persist(fence, 1, append("other"))).toEqual({ kind: "sequence_conflict" });
  expect(await persist(fence, 3, append("three"))).toEqual({ kind: "sequence_gap", lastSequence: 1 });
  expect(await persist(fence, 0, append("zero"))).toEqual({ kind: "sequence_conflict" });
  expect(transcriptOf(store, sessionId).map(({ text }) => text)).toEqual(["hello", "one"]);
});

test("OW24 an answer in chunks over its bound is refused, and what was kept stays", async () => {
  const { fence } = await running();
  const chunk = (text: string): StoreOperationPlan => ({ kind: "answer_chunk", text });
  expect(await persist(fence, 1, chunk("x".repeat(90)))).toMatchObject({ kind: "committed" });
  expect(await persist(fence, 2, chunk("ü".repeat(6)))).toEqual({ kind: "refused", problem: "answer_too_long" });
  expect(await persist(fence, 2, chunk("y".repeat(10)))).toMatchObject({ kind: "committed" });
});

test("OW14 OW16 an unknown outcome pauses its session until exactly it is acknowledged", async () => {
  const { sessionId, fence } = await running();
  await bench.admit(sessionId);
  expect(await bench.lose(fence.executionId, "unknown")).toMatchObject({ kind: "lost", paused: true });
  await store.writer.execute(releaseSession, { executionId: fence.executionId, now: bench.now });
  expect((await bench.claim(sessionId)).kind).toBe("paused");
  const acknowledge = (executionId: string) =>
    store.writer.execute(acknowledgeUnknown, { sessionId, executionId, now: bench.now });
  expect(await acknowledge("exe_other")).toEqual({ kind: "not_paused_behind", executionId: fence.executionId });
  expect((await bench.claim(sessionId)).kind).toBe("paused");
  expect(await acknowledge(fence.executionId)).toEqual({ kind: "acknowledged" });
  expect(await acknowledge(fence.executionId)).toEqual({ kind: "acknowledged" });
  expect((await bench.claim(sessionId)).kind).toBe("claimed");
});

test("a session that continues behind an unknown outcome runs its next input", async () => {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true, onUnknown: "continue" });
  const fence = await bench.run(sessionId);
  await bench.admit(sessionId);
  expect(await bench.lose(fence.executionId, "unknown")).toMatchObject({ paused: false });
  expect((await bench.claim(sessionId)).kind).toBe("running");
  await store.writer.execute(releaseSession, { executionId: fence.executionId, now: bench.now });
  expect((await bench.claim(sessionId)).kind).toBe("claimed");
  const boundary = transcriptOf(store, sessionId).find((row) => row.boundary === 1);
  expect(boundary?.text).toContain("unknown");
});

test("a full queue refuses one more, and the same key is found although it is full", async () => {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true, requestId: "key" });
  expect(await bench.admit(sessionId, { maxQueued: 1 })).toEqual({ kind: "queue_full" });
  expect(await bench.admit(sessionId, { maxQueued: 1, requestId: "key" })).toMatchObject({ kind: "replayed" });
  expect(await bench.admit(sessionId, { requestId: "key", text: "other" })).toEqual({ kind: "conflict" });
  expect(await bench.admit(sessionId, { requestId: "key", principal: "client:other" })).toMatchObject({
    kind: "queued",
    position: 2,
  });
});
