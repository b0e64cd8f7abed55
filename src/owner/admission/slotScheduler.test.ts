import fc from "fast-check";
import { expect, test } from "vitest";

import { createDeferred, type Deferred } from "../../base/deferred.js";
import { type Slot, SlotScheduler } from "./slotScheduler.js";

/** Sessions with numbered inputs, and turns that end when they are told. */
class Bench {
  readonly scheduler: SlotScheduler;
  /** Inputs that wait, by session. */
  readonly queued = new Map<string, number>();
  /** Running turns by session. */
  readonly running = new Map<string, { readonly slot: Slot; readonly over: Deferred<void>; yielded: boolean }>();
  /** Sessions in the order in which their turns began. */
  readonly began: string[] = [];
  readonly errors: unknown[] = [];

  constructor(max: number) {
    this.scheduler = new SlotScheduler(
      max,
      async (sessionId, slot) => {
        expect(this.running.has(sessionId)).toBe(false);
        const waiting = this.queued.get(sessionId) ?? 0;
        if (waiting === 0) return "nothing";
        this.queued.set(sessionId, waiting - 1);
        const turn = { slot, over: createDeferred<void>(), yielded: false };
        this.running.set(sessionId, turn);
        this.began.push(sessionId);
        try {
          await turn.over.promise;
        } finally {
          this.running.delete(sessionId);
        }
        return "ran";
      },
      (_sessionId, error) => this.errors.push(error),
    );
  }

  admit(sessionId: string): void {
    this.queued.set(sessionId, (this.queued.get(sessionId) ?? 0) + 1);
    this.scheduler.wake(sessionId);
  }

  get counting(): number {
    return [...this.running.values()].filter(({ yielded }) => !yielded).length;
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("DM067 nothing starts before it is opened or after it is closed", async () => {
  const bench = new Bench(2);
  bench.admit("a");
  await settle();
  expect(bench.began).toEqual([]);
  bench.scheduler.open();
  await settle();
  expect(bench.began).toEqual(["a"]);
  bench.scheduler.close();
  bench.admit("b");
  await settle();
  expect(bench.began).toEqual(["a"]);
});

test("sessions take turns: one with many inputs holds nobody back", async () => {
  const bench = new Bench(1);
  for (let count = 0; count < 3; count += 1) bench.admit("busy");
  bench.admit("other");
  bench.admit("third");
  bench.scheduler.open();
  for (let count = 0; count < 5; count += 1) {
    await settle();
    for (const { over } of bench.running.values()) over.resolve();
  }
  await settle();
  expect(bench.began).toEqual(["busy", "other", "third", "busy", "busy"]);
});

test("a turn that waits yields its slot, and counts again when it goes on", async () => {
  const bench = new Bench(1);
  bench.scheduler.open();
  bench.admit("a");
  bench.admit("b");
  bench.admit("c");
  await settle();
  const a = bench.running.get("a");
  a?.slot.yield();
  a?.slot.yield();
  await settle();
  expect(bench.began).toEqual(["a", "b"]);
  expect(bench.scheduler.used).toBe(1);
  a?.slot.resume();
  a?.slot.resume();
  expect(bench.scheduler.used).toBe(2);
  bench.running.get("b")?.over.resolve();
  await settle();
  expect(bench.began).toEqual(["a", "b"]);
  a?.over.resolve();
  await settle();
  a?.slot.yield();
  expect(bench.began).toEqual(["a", "b", "c"]);
  expect(bench.scheduler.used).toBe(1);
});

test("a turn that throws frees its slot and is reported", async () => {
  const bench = new Bench(1);
  bench.scheduler.open();
  bench.admit("a");
  bench.admit("b");
  await settle();
  bench.running.get("a")?.over.reject(new Error("broken"));
  await settle();
  expect(bench.errors).toHaveLength(1);
  expect(bench.began).toEqual(["a", "b"]);
});

test("idle resolves when the last turn has ended", async () => {
  const bench = new Bench(2);
  bench.scheduler.open();
  await bench.scheduler.idle();
  bench.admit("a");
  bench.admit("b");
  await settle();
  bench.scheduler.close();
  let idle = false;
  const waited = bench.scheduler.idle().then(() => {
    idle = true;
  });
  bench.running.get("a")?.over.resolve();
  await settle();
  expect(idle).toBe(false);
  bench.running.get("b")?.over.resolve();
  await waited;
});

type Step = { readonly kind: "admit" | "finish" | "yield" | "resume"; readonly session: string };

test("DM069 in any order of events: one turn a session, the cap kept, no wake lost, idle and queued never both", async () => {
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom("admit", "admit", "finish", "yield", "resume"),
    session: fc.constantFrom("a", "b", "c", "d", "e"),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 60, size: "max" }),
      async (max, steps) => {
        const bench = new Bench(max);
        bench.scheduler.open();
        let admitted = 0;
        for (const { kind, session } of steps) {
          const turn = bench.running.get(session);
          const startedBefore = bench.began.length;
          const countingBefore = bench.counting;
          if (kind === "admit") {
            bench.admit(session);
            admitted += 1;
          } else if (kind === "finish") turn?.over.resolve();
          else if (turn !== undefined) {
            turn.yielded = kind === "yield";
            turn.slot[kind]();
          }
          await settle();
          expect(bench.scheduler.used).toBe(bench.counting);
          // Turns that go on may pass the cap; then nothing starts.
          if (bench.counting > max && kind !== "resume") expect(bench.counting).toBeLessThanOrEqual(countingBefore);
          if (bench.began.length > startedBefore) expect(bench.counting).toBeLessThanOrEqual(max);
          const waits = [...bench.queued].some(([id, count]) => count > 0 && !bench.running.has(id));
          if (waits) expect(bench.counting).toBeGreaterThanOrEqual(max);
        }
        for (let guard = 0; bench.running.size > 0 && guard <= admitted; guard += 1) {
          for (const { over } of bench.running.values()) over.resolve();
          await settle();
        }
        expect(bench.began).toHaveLength(admitted);
        expect([...bench.queued.values()].every((count) => count === 0)).toBe(true);
        expect(bench.scheduler.used).toBe(0);
        expect(bench.scheduler.active).toBe(0);
      },
    ),
    { numRuns: 150 },
  );
});
