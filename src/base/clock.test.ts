import { expect, test } from "vitest";

import { systemClock } from "./clock.js";
import { FakeClock } from "./testing/fakeClock.js";

test("a fake clock runs timers in due order, those set on the way included, and cancels", () => {
  const clock = new FakeClock(1_000);
  const seen: string[] = [];
  const note = (text: string) => (): void => {
    seen.push(`${text}@${String(clock.now())}`);
  };
  clock.after(20, note("b"));
  clock.after(10, () => {
    note("a")();
    clock.after(5, note("a2"));
  });
  clock.after(20, note("c"));
  const cancel = clock.after(1, note("never"));
  cancel();
  cancel();
  clock.advance(19);
  expect(seen).toEqual(["a@1010", "a2@1015"]);
  clock.advance(1);
  expect(seen).toEqual(["a@1010", "a2@1015", "b@1020", "c@1020"]);
  expect(clock.pending).toBe(0);
  expect(clock.monotonic()).toBe(20);
});

test("advanceAsync lets promise chains set their next timer in time", async () => {
  const clock = new FakeClock();
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const laps: number[] = [];
  const run = (async () => {
    for (let lap = 0; lap < 3; lap++) {
      await wait(10);
      laps.push(clock.monotonic());
    }
  })();
  await clock.advanceAsync(30);
  await run;
  expect(laps).toEqual([10, 20, 30]);
});

test("wall time can jump without moving durations or timers", () => {
  const clock = new FakeClock(0);
  clock.after(10, () => expect.unreachable());
  clock.jumpWallTime(86_400_000);
  expect([clock.now(), clock.monotonic(), clock.pending]).toEqual([86_400_000, 0, 1]);
});

test("the system clock fires once, and a wait beyond a timer's range does not fire at once", async () => {
  const far = systemClock.after(10_000_000_000, () => expect.unreachable());
  await new Promise<void>((resolve) => void systemClock.after(0, resolve));
  await new Promise<void>((resolve) => void systemClock.after(-5, resolve));
  far();
});
