import { expect, test } from "vitest";

import { createDeferred } from "../../base/deferred.js";
import { silentLogger } from "../../base/logger.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import type { ExecutionPhase } from "../phase/executionPhase.js";
import type { Launch } from "../launch/launch.js";
import type { ProcessExit } from "../launch/spawner.js";
import type { TurnParts } from "./turnParts.js";
import { WorkerLeave } from "./workerLeave.js";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A worker that was told to finish, and what is known of its leaving. */
function leaving(phase: ExecutionPhase = "finishing") {
  const clock = new FakeClock();
  const exit = createDeferred<ProcessExit>();
  const seen: string[] = [];
  const parts = {
    clock,
    budgets: { finishWaitMs: 30_000, exitAfterFinishedMs: 10_000 },
    listeners: { workerTrouble: (agent: string) => void seen.push(`trouble of ${agent}`) },
  } as unknown as TurnParts;
  const leave = new WorkerLeave(parts, silentLogger(), "agent", { phase, move: (event) => void seen.push(event) });
  void leave.over.then(() => seen.push("over"));
  leave.asked();
  return { clock, exit, seen, leave, launch: { exited: exit.promise } as Launch };
}

test("a worker that says that it has finished, ends its stream and exits with 0 has left", async () => {
  const { exit, seen, leave, launch } = leaving();
  leave.finished();
  leave.streamEnded(launch);
  await turn();
  expect(seen).toEqual([]);
  exit.resolve({ code: 0, signal: null });
  await turn();
  expect(seen).toEqual(["leave", "over"]);
});

test("one that exits otherwise after it has finished is trouble, and is over all the same", async () => {
  const { exit, seen, leave, launch } = leaving();
  leave.finished();
  leave.streamEnded(launch);
  exit.resolve({ code: null, signal: "SIGSEGV" });
  await turn();
  expect(seen).toEqual(["trouble of agent", "over"]);
});

test.each([
  ["does not say that it has finished", "finishing", false],
  ["is lost", "lost", true],
] as const)("nobody waits for the exit of one whose stream ends and that %s", async (_, phase, finished) => {
  const { seen, leave, launch } = leaving(phase);
  if (finished) leave.finished();
  leave.streamEnded(launch);
  await turn();
  expect(seen).toEqual(["over"]);
});

test("it has one time to finish and another to leave after that, and no timer stays once the watch is ended", async () => {
  const { clock, seen, leave } = leaving();
  clock.advance(29_999);
  leave.finished();
  clock.advance(9_999);
  await turn();
  expect(seen).toEqual([]);
  clock.advance(1);
  await turn();
  expect(seen).toEqual(["over"]);
  leave.asked();
  leave.cancel();
  expect(clock.pending).toBe(0);
});
