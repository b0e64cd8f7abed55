import { beforeEach, expect, test } from "vitest";

import { FakeClock } from "../base/testing/fakeClock.js";
import { type FinalStep, runFinalWork } from "./finalWork.js";

let clock: FakeClock;
let stopped: AbortController;
let ownerGone: AbortController;
let done: string[];
let logged: string[];
beforeEach(() => {
  clock = new FakeClock();
  stopped = new AbortController();
  ownerGone = new AbortController();
  done = [];
  logged = [];
});

function run(steps: readonly FinalStep[]): Promise<void> {
  const warn = (message: string, fields = {}): void => {
    logged.push(`${message} ${JSON.stringify(fields)}`);
  };
  return runFinalWork(
    {
      clock,
      log: { info: warn, warn, error: warn },
      budgetMs: 10_000,
      stopped: stopped.signal,
      ownerGone: ownerGone.signal,
    },
    steps,
  );
}

const step = (name: string): FinalStep => ({
  name,
  run: () => {
    done.push(name);
    return Promise.resolve();
  },
});
const deaf: FinalStep = { name: "deaf", run: () => new Promise<void>(() => undefined) };
const failing: FinalStep = { name: "failing", run: () => Promise.reject(new Error("broken")) };

test("steps run in order, one that throws is logged, and no timer is left", async () => {
  await run([step("a"), failing, step("b")]);
  expect(done).toEqual(["a", "b"]);
  expect(logged).toEqual([`a turn's last work failed {"step":"failing","problem":"broken"}`]);
  expect(clock.pending).toBe(0);
});

test("a step that hears nothing is left at the end of the budget, and the rest is left out", async () => {
  const running = run([deaf, step("b")]);
  await clock.advanceAsync(9_999);
  expect(logged).toEqual([]);
  await clock.advanceAsync(1);
  await running;
  expect(done).toEqual([]);
  expect(logged).toEqual([
    `a turn's last work took too long {"step":"deaf"}`,
    `a turn's last work was left out {"step":"b"}`,
  ]);
  expect(clock.pending).toBe(0);
});

test.each(["before", "meanwhile"])("after a Stop that came %s there is a short time", async (when) => {
  if (when === "before") stopped.abort();
  const running = run([deaf]);
  if (when === "meanwhile") {
    await clock.advanceAsync(5_000);
    stopped.abort();
  }
  await clock.advanceAsync(2_000);
  await running;
  expect(logged).toHaveLength(1);
  expect(clock.pending).toBe(0);
});

test("without an owner nothing is waited for", async () => {
  const running = run([deaf, step("b")]);
  ownerGone.abort();
  await running;
  await run([step("c")]);
  expect(done).toEqual([]);
});
