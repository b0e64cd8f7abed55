import { expect, test } from "vitest";

import type { Store } from "../store.js";
import { useStore } from "../testing/useStore.js";
import { acknowledgeUnknown } from "./acknowledgeUnknown.js";
import { adoptExecution } from "./adoptExecution.js";
import { assignExecution } from "./assignExecution.js";
import { executionRow } from "./executionRow.js";
import type { StoredFence } from "./fence.js";
import { releaseSession } from "./releaseSession.js";
import { fresh, TurnBench } from "./testing/turnBench.js";

const DIGEST = Buffer.alloc(32, 7);

let store: Store;
let bench: TurnBench;
const { restart } = useStore((opened) => {
  store = opened;
  bench = new TurnBench(opened);
});

/** A session with an input that was claimed and not yet given to a worker. */
async function claimed(): Promise<{ readonly sessionId: string; readonly fence: StoredFence }> {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true });
  const executionId = fresh.execution();
  const claim = await bench.claim(sessionId, executionId);
  if (claim.kind !== "claimed") throw new Error(`not claimed: ${claim.kind}`);
  return { sessionId, fence: { executionId, epoch: store.epoch, generation: claim.claimed.generation } };
}

const assign = (fence: StoredFence) =>
  store.writer.execute(assignExecution, {
    fence,
    epoch: store.epoch,
    launchId: "lau_one",
    adoptionDigest: DIGEST,
    evidence: "{}",
  });
const adopt = (fence: StoredFence, adoptionDigest = DIGEST) =>
  store.writer.execute(adoptExecution, { fence, epoch: store.epoch, adoptionDigest });
const row = (fence: StoredFence) => executionRow(store.reader, fence.executionId);

test("OW08 F8 no worker is given an input that was not claimed", async () => {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true });
  const fence = { executionId: fresh.execution(), epoch: store.epoch, generation: 1 };
  expect(await assign(fence)).toEqual({ kind: "stale", problem: "unknown_execution" });
  expect(store.reader.all("SELECT 1 FROM executions")).toEqual([]);
});

test("F8 an assignment with another generation or epoch is refused", async () => {
  const { fence } = await claimed();
  expect(await assign({ ...fence, generation: fence.generation + 1 })).toEqual({
    kind: "stale",
    problem: "stale_generation",
  });
  expect(await assign({ ...fence, epoch: fence.epoch - 1 })).toEqual({ kind: "stale", problem: "stale_epoch" });
  expect(row(fence)).toMatchObject({ state: "claimed", launch_id: null });
});

test("OW09 another secret than the assignment's adopts nothing", async () => {
  const { fence } = await claimed();
  await assign(fence);
  expect(await adopt(fence, Buffer.alloc(32, 8))).toEqual({ kind: "mismatch" });
  expect(await adopt(fence, Buffer.alloc(5, 7))).toEqual({ kind: "mismatch" });
  expect(row(fence)?.state).toBe("assigned");
});

test("OW10 OW-R30 F10 DM058 DM-R20 while a turn holds its session no other is claimed there", async () => {
  const { sessionId, fence } = await claimed();
  await bench.admit(sessionId);
  expect((await bench.claim(sessionId)).kind).toBe("running");
  await bench.adopt(fence);
  expect((await bench.claim(sessionId)).kind).toBe("running");
  // Also once it has ended, as long as its processes are not proved gone.
  await bench.result(fence);
  expect((await bench.claim(sessionId)).kind).toBe("running");
  await store.writer.execute(releaseSession, { executionId: fence.executionId, now: bench.now });
  expect((await bench.claim(sessionId)).kind).toBe("claimed");
});

test("OW11 an execution has its session, input and generation from the claim, its process from the launch", async () => {
  const { sessionId, fence } = await claimed();
  await assign(fence);
  const [input] = store.reader.all<{ input_id: string }>("SELECT input_id FROM inputs WHERE session_id = ?", sessionId);
  expect(row(fence)).toMatchObject({
    session_id: sessionId,
    input_id: input?.input_id,
    epoch: store.epoch,
    generation: fence.generation,
    launch_id: "lau_one",
    state: "assigned",
  });
});

test("OW12 F9 an execution is given to one worker only", async () => {
  const { fence } = await claimed();
  expect(await assign(fence)).toEqual({ kind: "assigned" });
  expect(await assign(fence)).toEqual({ kind: "stale", problem: "ended" });
  await adopt(fence);
  expect(await assign(fence)).toEqual({ kind: "stale", problem: "ended" });
  expect(row(fence)?.launch_id).toBe("lau_one");
});

test("OW13 a settled execution is given to nobody", async () => {
  const { fence } = await claimed();
  await bench.lose(fence.executionId, "interrupted");
  expect(await assign(fence)).toEqual({ kind: "stale", problem: "ended" });
  expect(await adopt(fence)).toEqual({ kind: "stale", problem: "ended" });
  expect(row(fence)).toMatchObject({ launch_id: null, outcome: "interrupted" });
});

test("OW15 OW18 OW25 OW-R3 F7 F12 after a restart whoever comes with the old epoch changes nothing", async () => {
  const { sessionId, fence } = await claimed();
  await assign(fence);
  await restart();
  expect(await adopt(fence)).toEqual({ kind: "stale", problem: "stale_epoch" });
  expect(await adopt({ ...fence, epoch: store.epoch })).toEqual({ kind: "stale", problem: "stale_epoch" });
  await bench.lose(fence.executionId, "unknown");
  const before = row(fence);
  expect(before).toMatchObject({ outcome: "unknown", epoch: fence.epoch });
  expect(await adopt(fence)).toEqual({ kind: "stale", problem: "stale_epoch" });
  expect(await assign(fence)).toEqual({ kind: "stale", problem: "stale_epoch" });
  expect(await bench.result(fence)).toEqual({ kind: "stale", problem: "stale_epoch" });
  expect(row(fence)).toEqual(before);
  const [session] = store.reader.all("SELECT paused_execution_id FROM sessions WHERE session_id = ?", sessionId);
  expect(session).toEqual({ paused_execution_id: fence.executionId });
});

test("OW17 OW-R24 F30 behind an acknowledged loss a later turn runs, and the lost one's writer stays refused", async () => {
  const { sessionId, fence } = await claimed();
  await bench.adopt(fence);
  await bench.admit(sessionId);
  await bench.lose(fence.executionId, "unknown");
  await store.writer.execute(releaseSession, { executionId: fence.executionId, now: bench.now });
  await store.writer.execute(acknowledgeUnknown, { sessionId, executionId: fence.executionId, now: bench.now });
  const next = await bench.run(sessionId);
  expect(next.generation).toBe(fence.generation + 1);
  expect(await bench.result(fence)).toEqual({ kind: "stale", problem: "stale_generation" });
  expect(await bench.result({ ...fence, generation: next.generation })).toEqual({
    kind: "stale",
    problem: "stale_generation",
  });
  expect((await bench.result(next)).kind).toBe("committed");
  expect(row(fence)?.outcome).toBe("unknown");
});
