import { expect, test } from "vitest";

import { newId } from "../../base/ids.js";
import { seededRandom } from "../../base/testing/seededRandom.js";
import { ancestorSessions, familyOf, listSessions, worksFor } from "../queries/sessions.js";
import { sessionsToRun } from "../queries/turns.js";
import type { Store } from "../store.js";
import { useStore } from "../testing/useStore.js";
import { type ChildDispatch, dispatchChild } from "./dispatchChild.js";
import type { StoredFence } from "./fence.js";
import { deleteSession } from "./sessionRequests.js";
import { fresh, TurnBench } from "./testing/turnBench.js";

const random = seededRandom(31);
let store: Store;
let bench: TurnBench;
useStore((opened) => {
  store = opened;
  bench = new TurnBench(opened);
});

function dispatch(fence: StoredFence, childId: string, more: Partial<ChildDispatch> & { readonly task?: string } = {}) {
  const { task = "count", ...rest } = more;
  return store.writer.execute(dispatchChild, {
    fence,
    epoch: store.epoch,
    childId,
    agent: "echo",
    title: task,
    policy: Buffer.alloc(0),
    input: {
      inputId: newId("inp", random),
      sessionId: fresh.session(),
      principal: "agent:echo",
      requestScope: fence.executionId,
      requestId: childId,
      digest: Buffer.alloc(32),
      author: { kind: "local_agent", id: "agent:echo", displayName: "echo", sentBy: "" },
      attribution: "",
      text: task,
      depth: 0,
      headless: false,
      traceparent: "",
      tracestate: "",
      now: bench.now,
    },
    maxChildren: 2,
    maxDepth: 2,
    ...rest,
  });
}

async function dispatched(fence: StoredFence, childId: string): Promise<string> {
  const result = await dispatch(fence, childId);
  if (result.kind !== "dispatched") throw new Error(`no child was made: ${result.kind}`);
  return result.sessionId;
}

const ledger = () =>
  store.reader.all<{ child_id: string; state: string; answer: string }>(
    "SELECT child_id, state, answer FROM children ORDER BY child_id",
  );
const totals = () => store.reader.get("SELECT admitted, started, ended, ended_unstarted FROM turn_totals");

async function parent(): Promise<{ readonly sessionId: string; readonly fence: StoredFence }> {
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true });
  return { sessionId, fence: await bench.run(sessionId) };
}

test("a child is made once for each id, within the bounds of number and depth", async () => {
  const { fence } = await parent();
  const first = await dispatch(fence, "a");
  expect(first.kind).toBe("dispatched");
  expect(await dispatch(fence, "a")).toEqual({ ...first, kind: "replayed" });
  expect(await dispatch(fence, "a", { task: "other" })).toEqual({ kind: "conflict" });
  const session = first.kind === "dispatched" ? first.sessionId : "";
  await dispatch(fence, "b");
  expect(await dispatch(fence, "c")).toEqual({ kind: "limit" });
  const child = await bench.run(session);
  const grandchild = await bench.run(await dispatched(child, "a"));
  expect(await dispatch(grandchild, "a")).toEqual({ kind: "too_deep" });
});

test("an ended parent has no more children, and a stale fence makes none", async () => {
  const { fence } = await parent();
  expect(await dispatch({ ...fence, generation: 9 }, "a")).toEqual({ kind: "stale", problem: "stale_generation" });
  await bench.result(fence);
  expect(await dispatch(fence, "a")).toEqual({ kind: "stale", problem: "ended" });
});

test.each(["result", "loss"] as const)(
  "the %s of a parent withdraws its waiting children in the same commit; one that runs keeps its own outcome",
  async (how) => {
    const { fence } = await parent();
    const running = await bench.run(await dispatched(fence, "a"));
    await dispatched(fence, "b");
    if (how === "result") await bench.result(fence);
    else await bench.lose(fence.executionId, "unknown");
    expect(ledger()).toEqual([
      { child_id: "a", state: "dispatched", answer: "" },
      { child_id: "b", state: "interrupted", answer: "" },
    ]);
    expect(sessionsToRun(store.reader)).toEqual([]);
    await bench.result(running, { answer: "three" });
    expect(ledger()[0]).toEqual({ child_id: "a", state: "succeeded", answer: "three" });
    expect(totals()).toEqual({ admitted: 3, started: 2, ended: 3, ended_unstarted: 1 });
  },
);

test("the family of a session is known in both directions, and only its own sessions are listed", async () => {
  const { sessionId, fence } = await parent();
  const childSession = await dispatched(fence, "a");
  const child = await bench.run(childSession);
  const grandchildSession = await dispatched(child, "a");
  const grandchild = await bench.run(grandchildSession);
  expect(ancestorSessions(store.reader, grandchildSession)).toEqual([childSession, sessionId]);
  expect(familyOf(store.reader, sessionId)).toEqual([sessionId, childSession, grandchildSession]);
  expect(worksFor(store.reader, grandchild.executionId, fence.executionId)).toBe(true);
  expect(worksFor(store.reader, fence.executionId, fence.executionId)).toBe(true);
  expect(worksFor(store.reader, fence.executionId, child.executionId)).toBe(false);
  const list = (parentSessionId?: string) =>
    listSessions(store.reader, {
      states: [],
      limit: 10,
      ...(parentSessionId === undefined ? {} : { parentSessionId }),
    }).map((row) => row.sessionId);
  expect(list()).toEqual([sessionId]);
  expect(list(sessionId)).toEqual([childSession]);
});

test("a child's session takes no inputs of clients, and is not deleted while its parent waits for it", async () => {
  const { fence } = await parent();
  const childSession = await dispatched(fence, "a");
  expect(await bench.admit(childSession)).toEqual({ kind: "child_session" });
  const request = { principal: "client:test", requestId: "r", digest: "", now: bench.now, keepMs: 1_000 };
  expect(await store.writer.execute(deleteSession, { ...request, sessionId: childSession })).toEqual({ kind: "busy" });
});
