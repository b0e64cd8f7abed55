import { expect, test } from "vitest";

import { defineCommand } from "../command.js";
import { admitDelivery } from "../deliveries/admitDelivery.js";
import { cancelDelivery } from "../deliveries/cancelDelivery.js";
import { readDelivery } from "../deliveries/readDelivery.js";
import { queuedTurns } from "../queries/turns.js";
import type { Store } from "../store.js";
import { useStore } from "../testing/useStore.js";
import { assignExecution } from "./assignExecution.js";
import { endLaunch } from "./endLaunch.js";
import { executionRow } from "./executionRow.js";
import type { StoredFence } from "./fence.js";
import { recordLaunch } from "./recordLaunch.js";
import { releaseSession } from "./releaseSession.js";
import { requeueExecution, VAIN_STARTS } from "./requeueExecution.js";
import { transcriptOf } from "./testing/transcriptOf.js";
import { fresh, TurnBench } from "./testing/turnBench.js";
import { makeDraft } from "../deliveries/testing/makeDraft.js";

const DIGEST = Buffer.alloc(32, 7);
const CHAT = { agent: "echo", sessionId: "ses_chat", policy: Buffer.of(1) };

const makeChild = defineCommand<string, undefined>({
  name: "test.child",
  run(tx, sessionId) {
    tx.run("UPDATE sessions SET child_depth = 1 WHERE session_id = ?", sessionId);
    return undefined;
  },
});

let store: Store;
let bench: TurnBench;
const { restart } = useStore((opened) => {
  store = opened;
  bench = new TurnBench(opened);
});

async function claim(sessionId: string): Promise<StoredFence> {
  const executionId = fresh.execution();
  const result = await bench.claim(sessionId, executionId);
  if (result.kind !== "claimed") throw new Error(`not claimed: ${result.kind}`);
  return { executionId, epoch: store.epoch, generation: result.claimed.generation };
}

async function assign(fence: StoredFence): Promise<void> {
  const launch = { launchId: "lau_one", pid: 4_000_000, birth: "1", bootId: "boot", processGroup: 4_000_000 };
  await store.writer.execute(recordLaunch, { ...launch, epoch: store.epoch, now: bench.now });
  const assignment = { fence, epoch: store.epoch, launchId: "lau_one", adoptionDigest: DIGEST, evidence: "{}" };
  expect(await store.writer.execute(assignExecution, assignment)).toEqual({ kind: "assigned" });
}

const requeue = ({ executionId }: StoredFence) =>
  store.writer.execute(requeueExecution, { executionId, epoch: store.epoch, now: bench.now });
const release = ({ executionId }: StoredFence) => store.writer.execute(releaseSession, { executionId, now: bench.now });
const totals = () => store.reader.all("SELECT admitted, started, ended FROM turn_totals");

async function send(): Promise<string> {
  const draft = makeDraft({
    deliveryId: "del_one",
    digest: DIGEST,
    route: "local",
    sender: { kind: "client", id: "client:x", displayName: "x", sentBy: "" },
    recipientAgent: "echo",
    recipientChat: CHAT,
    body: "for the agent",
    expiresAt: bench.now + 1_000,
    now: bench.now,
  });
  const admitted = await store.writer.execute(admitDelivery, draft);
  if (admitted.kind === "refused") throw new Error(admitted.reason);
  return admitted.delivery.deliveryId;
}

const delivery = (id: string) => readDelivery(store.reader, id);

test("an input whose turn was claimed when the owner died is next again, its row there once, its execution refused", async () => {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true, text: "first" });
  await bench.admit(sessionId, { text: "second" });
  const before = queuedTurns(store.reader, sessionId, 9).map(({ input }) => input.input_id);
  const fence = await claim(sessionId);
  await restart();
  expect((await requeue(fence)).kind).toBe("requeued");
  expect((await requeue(fence)).kind).toBe("refused");
  expect(executionRow(store.reader, fence.executionId)).toMatchObject({ state: "lost", outcome: "cancelled" });
  expect(transcriptOf(store, sessionId)).toEqual([]);
  expect(totals()).toEqual([{ admitted: 2, started: 0, ended: 0 }]);
  expect((await bench.claim(sessionId)).kind).toBe("running");
  await release(fence);
  expect(queuedTurns(store.reader, sessionId, 9).map(({ input }) => input.input_id)).toEqual(before);
  const next = await bench.run(sessionId);
  expect(next.generation).toBe(fence.generation + 1);
  expect(transcriptOf(store, sessionId)).toMatchObject([{ row: 1, role: "user", text: "first" }]);
  expect(await bench.result(fence)).toMatchObject({ kind: "stale" });
  expect(await bench.result(next)).toMatchObject({ kind: "committed" });
  expect(totals()).toEqual([{ admitted: 2, started: 1, ended: 1 }]);
});

test("an assigned turn goes back only once its worker is proved gone", async () => {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true });
  const fence = await claim(sessionId);
  await assign(fence);
  await restart();
  expect((await requeue(fence)).kind).toBe("refused");
  await store.writer.execute(endLaunch, { launchId: "lau_one", now: bench.now });
  expect((await requeue(fence)).kind).toBe("requeued");
});

test("what was adopted, has ended, runs in this epoch or is a child's does not go back", async () => {
  const [adopted, ended, own, child] = [fresh.session(), fresh.session(), fresh.session(), fresh.session()];
  for (const sessionId of [adopted, ended, own, child]) await bench.admit(sessionId, { create: true });
  const [ran, settled, parented] = [await bench.run(adopted), await claim(ended), await claim(child)];
  await bench.lose(settled.executionId, "interrupted");
  await store.writer.execute(makeChild, child);
  await restart();
  const current = await claim(own);
  for (const fence of [ran, settled, parented, current]) expect(await requeue(fence)).toEqual({ kind: "refused" });
});

test(`${String(VAIN_STARTS)} starts that come to nothing are all that an input gets`, async () => {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true });
  const came: string[] = [];
  for (let start = 1; start <= VAIN_STARTS; start += 1) {
    const fence = await claim(sessionId);
    await restart();
    came.push((await requeue(fence)).kind);
    if (start < VAIN_STARTS) await release(fence);
  }
  expect(came).toEqual([...Array.from({ length: VAIN_STARTS - 1 }, () => "requeued"), "refused"]);
});

test("a message whose turn did not start waits again, and can be withdrawn or started", async () => {
  const id = await send();
  const first = await claim(CHAT.sessionId);
  expect(delivery(id)).toMatchObject({ state: "claimed", executionId: first.executionId });
  await restart();
  const back = await requeue(first);
  expect(back).toMatchObject({ kind: "requeued", effects: { changed: [id] } });
  expect(delivery(id)).toMatchObject({ state: "queued", executionId: undefined, claimedAt: undefined });
  await release(first);
  const second = await claim(CHAT.sessionId);
  expect(delivery(id)).toMatchObject({ state: "claimed", executionId: second.executionId });
  await restart();
  await requeue(second);
  await release(second);
  const cancelled = await store.writer.execute(cancelDelivery, { deliveryId: id, inFlight: false, now: bench.now });
  expect(cancelled.kind).toBe("cancelled");
  expect((await bench.claim(CHAT.sessionId)).kind).toBe("idle");
  expect(transcriptOf(store, CHAT.sessionId)).toEqual([]);
});

test("the retry of a message's turn goes back as a retry: the message stays claimed, because the turn before did start", async () => {
  const id = await send();
  const failed = await bench.run(CHAT.sessionId);
  await bench.lose(failed.executionId, "failed");
  await release(failed);
  const retry = await claim(CHAT.sessionId);
  await restart();
  expect(await requeue(retry)).toMatchObject({ kind: "requeued", effects: { changed: [id] } });
  expect(delivery(id)).toMatchObject({
    state: "claimed",
    executionId: undefined,
    retry: { mode: "resume", failedExecutionId: failed.executionId },
  });
  await release(retry);
  const again = await bench.claim(CHAT.sessionId);
  expect(again).toMatchObject({ claimed: { retry: { failedExecutionId: failed.executionId } } });
  expect(transcriptOf(store, CHAT.sessionId).filter(({ role }) => role === "user")).toHaveLength(1);
});
