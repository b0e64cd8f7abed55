import fc from "fast-check";
import { expect, test } from "vitest";

import { readStatus } from "../queries/status.js";
import { readTurnOutcomes } from "../queries/turnOutcomes.js";
import { forgetIdleSession } from "../retention/forgetIdleSession.js";
import type { Store } from "../store.js";
import { useStore } from "../testing/useStore.js";
import { cancelInput } from "./cancelInput.js";
import type { StoredFence } from "./fence.js";
import { releaseSession } from "./releaseSession.js";
import { requeueExecution } from "./requeueExecution.js";
import { deleteSession } from "./sessionRequests.js";
import { fresh, TurnBench } from "./testing/turnBench.js";

let store: Store;
useStore((opened) => {
  store = opened;
});

/** A session, what runs in it, and the inputs that it was given. */
interface Place {
  sessionId: string;
  fence: StoredFence | undefined;
  readonly inputs: string[];
}

const STEPS = [
  "admit",
  "admit",
  "run",
  "claim",
  "complete",
  "fail",
  "interrupt",
  "lose",
  "requeue",
  "cancel",
  "release",
  "delete",
  "forget",
] as const;

/** Walks that are taken every time, whatever is drawn besides: inputs that wait are deleted with their session, beside every end. */
const WALKS: readonly (readonly (typeof STEPS)[number][])[] = [
  ["admit", "admit", "delete"],
  ["admit", "admit", "run", "complete", "release", "admit", "delete"],
  ["admit", "admit", "claim", "requeue", "cancel", "cancel", "admit", "run", "fail", "release", "forget"],
  ["admit", "run", "lose", "interrupt", "release", "forget", "admit", "run", "interrupt", "release", "delete"],
];

test("the counters add up after every step of any mix, whatever ends a turn and whatever is deleted meanwhile", async () => {
  const step = fc.record({ kind: fc.constantFrom(...STEPS), place: fc.nat(2) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const bench = new TurnBench(store);
      const places: Place[] = Array.from({ length: 3 }, () => ({ sessionId: "", fence: undefined, inputs: [] }));
      for (const { kind, place } of steps) {
        const at = places[place];
        if (at !== undefined) await perform(bench, kind, at);
        expectSums();
      }
      // The next run begins with sessions of its own: what this one has left is counted on.
    }),
    { numRuns: 25, examples: WALKS.map((walk) => [walk.map((kind) => ({ kind, place: 0 }))]) },
  );
});

async function perform(bench: TurnBench, kind: (typeof STEPS)[number], at: Place): Promise<void> {
  const { sessionId, fence } = at;
  switch (kind) {
    case "admit": {
      if (sessionId === "") at.sessionId = fresh.session();
      const admitted = await bench.admit(at.sessionId, { create: sessionId === "" });
      if (admitted.kind === "queued") at.inputs.push(admitted.inputId);
      return;
    }
    case "run":
    case "claim": {
      if (sessionId === "" || fence !== undefined) return;
      const executionId = fresh.execution();
      const claim = await bench.claim(sessionId, executionId);
      if (claim.kind !== "claimed") return;
      at.fence = { executionId, epoch: store.epoch, generation: claim.claimed.generation };
      if (kind === "run") await bench.adopt(at.fence);
      return;
    }
    case "complete":
    case "fail":
    case "interrupt": {
      if (fence === undefined) return;
      const failure = { reason: "PROVIDER_QUOTA", message: "", hint: "", retryable: false };
      const outcome = { complete: "completed", fail: "failed", interrupt: "interrupted" } as const;
      await bench.result(fence, { outcome: outcome[kind], ...(kind === "fail" ? { failure } : {}) });
      return;
    }
    case "lose":
      if (fence !== undefined) await bench.lose(fence.executionId, "failed");
      return;
    case "requeue": {
      if (fence === undefined) return;
      const request = { executionId: fence.executionId, epoch: store.epoch + 1, now: bench.now };
      const back = await store.writer.execute(requeueExecution, request);
      if (back.kind === "refused") return;
      await store.writer.execute(releaseSession, { executionId: fence.executionId, now: bench.now });
      at.fence = undefined;
      return;
    }
    case "cancel": {
      const inputId = at.inputs.pop();
      if (inputId !== undefined) await store.writer.execute(cancelInput, { inputId, now: bench.now });
      return;
    }
    case "release": {
      if (fence === undefined) return;
      const ended = store.reader.get(
        "SELECT 1 FROM executions WHERE execution_id = ? AND outcome IS NOT NULL",
        fence.executionId,
      );
      if (ended === undefined) return;
      await store.writer.execute(releaseSession, { executionId: fence.executionId, now: bench.now });
      at.fence = undefined;
      return;
    }
    case "delete": {
      if (sessionId === "") return;
      const request = { principal: "p", requestId: sessionId, digest: "d", sessionId, now: bench.now, keepMs: 1 };
      if ((await store.writer.execute(deleteSession, request)).kind === "done") forgetPlace(at);
      return;
    }
    case "forget": {
      const gone = await store.writer.execute(forgetIdleSession, { idleSince: Number.MAX_SAFE_INTEGER });
      if (gone.includes(sessionId)) forgetPlace(at);
      return;
    }
  }
}

function forgetPlace(at: Place): void {
  at.sessionId = "";
  at.fence = undefined;
  at.inputs.length = 0;
}

/** What is counted apart must agree: the totals, the ends by outcome, the days of usage, and the rows that are there. */
function expectSums(): void {
  const { reader } = store;
  const { turns } = readStatus(reader);
  const count = (what: string, from: string): number =>
    reader.get<{ n: number | null }>(`SELECT ${what} AS n FROM ${from}`)?.n ?? 0;
  const byOutcome = readTurnOutcomes(reader).reduce((sum, one) => sum + one.turns, 0);
  const unstarted = count("ended_unstarted", "turn_totals");
  expect({
    admitted: turns.admitted,
    ended: byOutcome,
    queued: count("COUNT(*)", "inputs WHERE state = 'queued'"),
    running: count("COUNT(*)", "inputs WHERE state = 'started'"),
    endedByDay: count("SUM(turns)", "usage_days"),
  }).toEqual({
    admitted: turns.ended + turns.queued + turns.running,
    ended: turns.ended,
    queued: turns.queued,
    running: turns.running,
    endedByDay: turns.ended - unstarted,
  });
}
