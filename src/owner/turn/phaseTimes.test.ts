import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import type { ExecutionPhase } from "../phase/executionPhase.js";
import { PhaseTimes } from "./phaseTimes.js";

/** The times of a turn that is in each phase for so long. */
function timesOf(queuedMs: number, ...phases: readonly (readonly [ExecutionPhase, number])[]) {
  const clock = new FakeClock();
  const times = new PhaseTimes(clock, { queued_at: 1_000, started_at: 1_000 + queuedMs });
  for (const [phase, ms] of phases) {
    times.enter(phase);
    clock.advance(ms);
  }
  return Object.fromEntries(times.end());
}

test("a whole turn's time is shared out among its phases", () => {
  const times = timesOf(
    500,
    ["spawned", 1],
    ["proved", 2],
    ["exercised", 3],
    ["bootstrapped", 4],
    ["adopted", 5],
    ["running", 60],
    ["result", 7],
    ["finishing", 8],
    ["finished", 9],
  );
  expect(times).toEqual({ queued: 500, launch: 1, adopt: 14, running: 60, settle: 24 });
});

test("a worker that is replaced is launched for longer; phases that a turn does not come to are not there", () => {
  expect(timesOf(-1, ["spawned", 1], ["proved", 2], ["spawned", 4], ["lost", 8])).toEqual({
    queued: 0,
    launch: 5,
    adopt: 2,
    settle: 8,
  });
});
