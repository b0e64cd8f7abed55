import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";

import { readStatus } from "../queries/status.js";
import { queuedTurns, sessionsToRun } from "../queries/turns.js";
import { openStore, type Store } from "../store.js";
import { tempHome } from "../testing/tempHome.js";
import { acknowledgeUnknown } from "./acknowledgeUnknown.js";
import { cancelInput } from "./cancelInput.js";
import type { StoredFence } from "./fence.js";
import { releaseSession } from "./releaseSession.js";
import { requeueExecution, VAIN_STARTS } from "./requeueExecution.js";
import { fresh, TurnBench } from "./testing/turnBench.js";

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

/** What a session should be. */
interface Model {
  readonly sessionId: string;
  /** Input ids that wait, next first. */
  queue: string[];
  running: { readonly fence: StoredFence; readonly inputId: string; adopted: boolean; settled: boolean } | undefined;
  paused: string | undefined;
  readonly keys: Map<string, string>;
  /** Outcomes by input. */
  readonly outcomes: Map<string, string>;
  /** Starts that came to nothing, by input. */
  readonly vain: Map<string, number>;
}

const PLAIN = ["claim", "adopt", "complete", "release", "acknowledge", "cancel", "requeue"] as const;
type Plain = (typeof PLAIN)[number];

type Step =
  | { readonly kind: "admit"; readonly session: number; readonly key: number }
  | { readonly kind: Plain; readonly session: number }
  | { readonly kind: "lose"; readonly session: number; readonly outcome: "failed" | "unknown" | "interrupted" };

const session = fc.integer({ min: 0, max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("admit" as const), session, key: fc.integer({ min: 0, max: 12 }) }),
  fc.record({ kind: fc.constantFrom(...PLAIN), session }),
  fc.record({
    kind: fc.constant("lose" as const),
    session,
    outcome: fc.constantFrom("failed", "unknown", "interrupted"),
  }),
);

const admit = (key: number): Step => ({ kind: "admit", session: 0, key });
const next = (...kinds: readonly Plain[]): readonly Step[] => kinds.map((kind) => ({ kind, session: 0 }));
const lost = (outcome: "failed" | "unknown"): Step => ({ kind: "lose", session: 0, outcome });

/** Walks that are taken every time, whatever is drawn besides: what the rules are about happens in them. */
const WALKS: readonly (readonly Step[])[] = [
  // Several wait, and begin in their order.
  [admit(1), admit(2), ...next("claim", "adopt", "complete", "release", "claim"), admit(3), lost("failed")],
  // One is put back before those behind it, until its starts have been in vain too often.
  [admit(1), ...Array.from({ length: VAIN_STARTS }, () => next("claim", "requeue", "release")).flat()],
  // One ends in doubt, and those behind it wait for a person; the last of them is withdrawn meanwhile.
  [
    admit(1),
    admit(2),
    ...next("claim", "adopt"),
    lost("unknown"),
    ...next("release", "claim", "cancel", "acknowledge", "claim", "adopt", "complete", "complete"),
    lost("failed"),
    admit(1),
  ],
];

async function take(model: Model, one: Step): Promise<void> {
  const { sessionId } = model;
  switch (one.kind) {
    case "admit": {
      const requestId = `key-${String(one.key)}`;
      const result = await bench.admit(sessionId, { requestId });
      const earlier = model.keys.get(requestId);
      if (earlier === undefined) {
        if (result.kind !== "queued") throw new Error(`not queued: ${result.kind}`);
        model.queue.push(result.inputId);
        model.keys.set(requestId, result.inputId);
        expect(result.position).toBe(model.queue.length);
      } else expect(result).toMatchObject({ kind: "replayed", inputId: earlier });
      return;
    }
    case "claim": {
      const executionId = fresh.execution();
      const result = await bench.claim(sessionId, executionId);
      if (model.running !== undefined) expect(result.kind).toBe("running");
      else if (model.paused !== undefined) expect(result.kind).toBe("paused");
      else if (model.queue.length === 0) expect(result.kind).toBe("idle");
      else {
        const inputId = model.queue.shift() ?? "";
        expect(result).toMatchObject({ kind: "claimed", claimed: { input: { input_id: inputId } } });
        if (result.kind !== "claimed") return;
        const fence = { executionId, epoch: store.epoch, generation: result.claimed.generation };
        model.running = { fence, inputId, adopted: false, settled: false };
      }
      return;
    }
    case "adopt":
      if (model.running === undefined) return;
      await bench.adopt(model.running.fence);
      if (!model.running.settled) model.running.adopted = true;
      return;
    case "complete": {
      if (model.running === undefined) return;
      const { fence, inputId, adopted, settled } = model.running;
      const result = await bench.result(fence);
      if (!adopted || settled) {
        expect(result).toEqual({ kind: "stale", problem: "ended" });
        return;
      }
      expect(result).toMatchObject({ kind: "committed", answer: "answer" });
      model.running.settled = true;
      model.outcomes.set(inputId, "completed");
      return;
    }
    case "lose": {
      if (model.running === undefined) return;
      const result = await bench.lose(model.running.fence.executionId, one.outcome);
      if (model.running.settled) {
        // Of an execution that was put back, its own end is that it was withdrawn.
        const outcome = model.outcomes.get(model.running.inputId) ?? "cancelled";
        expect(result).toMatchObject({ kind: "settled_before", outcome });
        return;
      }
      expect(result).toMatchObject({ kind: "lost", paused: one.outcome === "unknown" });
      model.running.settled = true;
      model.outcomes.set(model.running.inputId, one.outcome);
      if (one.outcome === "unknown") model.paused = model.running.fence.executionId;
      return;
    }
    case "requeue": {
      if (model.running === undefined) return;
      const { fence, inputId, adopted, settled } = model.running;
      const { executionId } = fence;
      // As the next start does.
      const result = await store.writer.execute(requeueExecution, {
        executionId,
        epoch: store.epoch + 1,
        now: bench.now,
      });
      const vain = (model.vain.get(inputId) ?? 0) + 1;
      if (adopted || settled || vain >= VAIN_STARTS) {
        expect(result.kind).toBe("refused");
        return;
      }
      expect(result.kind).toBe("requeued");
      model.vain.set(inputId, vain);
      model.running.settled = true;
      model.queue.unshift(inputId);
      return;
    }
    case "release": {
      // The owner releases what it has settled, never before.
      if (model.running?.settled !== true) return;
      const { executionId } = model.running.fence;
      const released = await store.writer.execute(releaseSession, { executionId, now: bench.now });
      expect(released).toEqual({ sessionId });
      model.running = undefined;
      return;
    }
    case "acknowledge": {
      const executionId = model.paused ?? "exe_none";
      const result = await store.writer.execute(acknowledgeUnknown, { sessionId, executionId, now: bench.now });
      expect(result.kind).toBe(model.paused === undefined ? "not_paused_behind" : "acknowledged");
      model.paused = undefined;
      return;
    }
    case "cancel": {
      const inputId = model.queue.at(-1) ?? model.running?.inputId;
      if (inputId === undefined) return;
      const result = await store.writer.execute(cancelInput, { inputId, now: bench.now });
      if (model.queue.includes(inputId)) {
        expect(result).toMatchObject({ kind: "cancelled", sessionId });
        model.queue.pop();
        model.outcomes.set(inputId, "cancelled");
      } else expect(result.kind).toBe("not_queued");
      return;
    }
  }
}

function check(model: Model): void {
  const { sessionId } = model;
  expect(queuedTurns(store.reader, sessionId, 100).map(({ input }) => input.input_id)).toEqual(model.queue);
  const [row] = store.reader.all<{ running: string | null; paused: string | null }>(
    "SELECT running_execution_id AS running, paused_execution_id AS paused FROM sessions WHERE session_id = ?",
    sessionId,
  );
  expect(row).toEqual({ running: model.running?.fence.executionId ?? null, paused: model.paused ?? null });
  const ended = store.reader.all<{ input_id: string; outcome: string }>(
    "SELECT input_id, outcome FROM inputs WHERE session_id = ? AND state = 'ended'",
    sessionId,
  );
  expect(new Map(ended.map(({ input_id, outcome }) => [input_id, outcome]))).toEqual(model.outcomes);
  const started = store.reader.all("SELECT 1 FROM inputs WHERE session_id = ? AND state = 'started'", sessionId);
  expect(started).toHaveLength(model.running?.settled === false ? 1 : 0);
  const said = store.reader.all("SELECT 1 FROM messages WHERE session_id = ? AND role = 'user'", sessionId);
  const begun = [...model.outcomes.values()].filter((outcome) => outcome !== "cancelled");
  expect(said).toHaveLength(begun.length + started.length);
  expect(sessionsToRun(store.reader).includes(sessionId)).toBe(model.queue.length > 0 && model.paused === undefined);
}

test(
  "admission, claim and settlement follow their model in any order: one outcome an input, at most one running",
  { timeout: 60_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const models: Model[] = [];
        for (let count = 0; count < 2; count += 1) {
          const sessionId = fresh.session();
          const first = await bench.admit(sessionId, { create: true, requestId: "first" });
          if (first.kind !== "queued") throw new Error("not queued");
          models.push({
            sessionId,
            queue: [first.inputId],
            running: undefined,
            paused: undefined,
            keys: new Map([["first", first.inputId]]),
            outcomes: new Map(),
            vain: new Map(),
          });
        }
        for (const one of steps) {
          const model = models[one.session];
          if (model !== undefined) await take(model, one);
          models.forEach(check);
          const { admitted, queued, running, ended } = readStatus(store.reader).turns;
          expect(admitted).toBe(queued + running + ended);
        }
        // What is left over must not run into the next round's totals.
        for (const model of models) {
          if (model.running?.settled === false) await bench.lose(model.running.fence.executionId, "failed");
        }
      }),
      { numRuns: 25, examples: WALKS.map((walk) => [[...walk]]) },
    );
  },
);
