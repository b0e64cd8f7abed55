import fc from "fast-check";
import { expect, test } from "vitest";

import { systemClock } from "../../base/clock.js";
import { createDeferred, type Deferred } from "../../base/deferred.js";
import { silentLogger } from "../../base/logger.js";
import { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import type { Store } from "../../store/store.js";
import { SlotScheduler } from "../admission/slotScheduler.js";
import { type SlotMember, shareSlot } from "../admission/sharedSlot.js";
import { ChildDesk } from "./childDesk.js";

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A desk whose children run until they are told to end. */
class Bench {
  /** Inputs that were withdrawn. */
  readonly withdrawn: string[] = [];
  readonly began: string[] = [];
  readonly running = new Map<string, { readonly over: Deferred<void>; readonly slot: SlotMember }>();
  readonly stopped: StopCause[] = [];
  readonly desk: ChildDesk;
  #most = 0;

  constructor(slot: SlotMember) {
    const execute = (_command: unknown, { inputId }: { readonly inputId: string }) => {
      this.withdrawn.push(inputId);
      return Promise.resolve({ kind: "cancelled", effects: { changed: [], wake: [] } });
    };
    this.desk = new ChildDesk({
      store: { writer: { execute } } as unknown as Store,
      clock: systemClock,
      listeners: {
        effects: () => undefined,
        unknownOutcome: () => undefined,
        workerTrouble: () => undefined,
        promptWaiting: () => undefined,
      },
      log: silentLogger(),
      slot,
      runTurn: async (sessionId, member, begun) => {
        const over = createDeferred<void>();
        this.began.push(sessionId);
        this.running.set(sessionId, { over, slot: member });
        this.#most = Math.max(this.#most, this.running.size);
        begun({
          stop: (cause) => {
            this.stopped.push(cause);
            over.resolve();
          },
        });
        await over.promise;
        this.running.delete(sessionId);
      },
    });
  }

  /** Most children that ran at once. */
  get most(): number {
    return this.#most;
  }

  give(id: string): Promise<void> {
    return this.desk.take({ sessionId: id, inputId: id });
  }

  endOne(): void {
    for (const { over } of this.running.values()) over.resolve();
  }
}

const counted = () => {
  const slot = { counts: true, yield: () => void (slot.counts = false), resume: () => void (slot.counts = true) };
  return slot;
};

test("children run one at a time in the order in which they were given; one that is given twice runs once", async () => {
  const bench = new Bench(shareSlot(counted()));
  const ends = ["a", "b", "a", "c"].map((id) => bench.give(id));
  expect(bench.desk.openCount).toBe(3);
  for (let count = 0; count < 3; count += 1) {
    await settle();
    bench.endOne();
  }
  await Promise.all(ends);
  expect(bench.began).toEqual(["a", "b", "c"]);
  expect(bench.most).toBe(1);
  await bench.desk.retired();
  expect(bench.desk.openCount).toBe(0);
});

test("a closed desk stops the child that runs, withdraws those that wait and takes no more", async () => {
  const bench = new Bench(shareSlot(counted()));
  const ends = ["a", "b", "c"].map((id) => bench.give(id));
  await settle();
  bench.desk.close(StopCause.STOP_CAUSE_PARENT_ENDED);
  bench.desk.close(StopCause.STOP_CAUSE_DRAINING);
  await Promise.all([...ends, bench.give("late")]);
  await bench.desk.retired();
  expect(bench.stopped).toEqual([StopCause.STOP_CAUSE_PARENT_ENDED]);
  expect(bench.began).toEqual(["a"]);
  expect(bench.withdrawn).toEqual(["b", "c", "late"]);
});

test("in any order every child ends, and no slot is lost under any cap", async () => {
  const step = fc.record({ session: fc.nat(3), what: fc.constantFrom("give", "give", "end", "wait", "go", "close") });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 40, size: "max" }),
      async (max, steps) => {
        const benches = new Map<string, Bench>();
        const overs = new Map<string, Deferred<void>>();
        const scheduler = new SlotScheduler(
          max,
          async (sessionId, slot) => {
            if (benches.has(sessionId)) return "nothing";
            const member = shareSlot(slot);
            const bench = new Bench(member);
            benches.set(sessionId, bench);
            const over = createDeferred<void>();
            overs.set(sessionId, over);
            await over.promise;
            bench.desk.close(StopCause.STOP_CAUSE_PARENT_ENDED);
            await bench.desk.retired();
            member.leave();
            return "ran";
          },
          (_, error) => {
            throw error;
          },
        );
        scheduler.open();
        for (const id of ["0", "1", "2", "3"]) scheduler.wake(id);
        const ends: Promise<void>[] = [];
        let given = 0;
        for (const { session, what } of steps) {
          const bench = benches.get(String(session));
          if (bench === undefined) continue;
          const [child] = bench.running.values();
          if (what === "give") ends.push(bench.give(`${String(session)}.${String((given += 1))}`));
          else if (what === "end") child?.over.resolve();
          else if (what === "close") overs.get(String(session))?.resolve();
          else child?.slot.waits("people", what === "wait");
          await settle();
          expect(bench.most).toBeLessThanOrEqual(1);
        }
        for (let round = 0; round < 4; round += 1) {
          for (const over of overs.values()) over.resolve();
          await settle();
          await settle();
        }
        await Promise.all(ends);
        await scheduler.idle();
        expect(overs.size).toBe(4);
        expect(scheduler.used).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});
