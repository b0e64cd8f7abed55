import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { LoopShare } from "./loopShare.js";

/** A share whose work takes as long as it is told, and what was done so far. */
function sharing() {
  const clock = new FakeClock();
  const share = new LoopShare(clock);
  const done: string[] = [];
  const work = (name: string, ms: number): Promise<void> =>
    share.run(() => {
      done.push(name);
      clock.advance(ms);
    });
  return { clock, share, done, work };
}

test("work that is short waits for nothing, however often it comes over a long time", async () => {
  const { clock, done, work } = sharing();
  for (let count = 0; count < 100; count += 1) {
    await work("line", 0.5);
    clock.advance(5);
  }
  expect(done).toHaveLength(100);
  expect(clock.pending).toBe(0);
});

test("work that fills the loop is kept to a tenth of it, whoever brings it", async () => {
  const { clock, done, work } = sharing();
  let busy = 0;
  const flood = async (name: string): Promise<void> => {
    for (let count = 0; count < 50; count += 1) {
      await work(name, 20);
      busy += 20;
    }
  };
  const floods = Promise.all([flood("a"), flood("b")]);
  const began = clock.monotonic();
  while (done.length < 100) await clock.advanceAsync(50);
  await floods;
  expect(busy / (clock.monotonic() - began)).toBeLessThan(0.11);
  expect(done.slice(0, 40).filter((name) => name === "a")).toHaveLength(20);
  expect(clock.pending).toBe(0);
});

test("a share that is closed keeps nobody waiting and leaves no timer", async () => {
  const { clock, share, done, work } = sharing();
  await work("first", 1_000);
  const second = work("second", 1_000);
  await clock.advanceAsync(0);
  expect(done).toEqual(["first"]);
  share.close();
  await second;
  await work("third", 1_000);
  expect(done).toEqual(["first", "second", "third"]);
  expect(clock.pending).toBe(0);
});
