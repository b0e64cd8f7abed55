import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { startStopLadder } from "./stopLadder.js";
import { type TurnBounds, TurnWatch } from "./turnWatch.js";

function watchWith(bounds: Partial<TurnBounds>) {
  const clock = new FakeClock();
  const alarms: string[] = [];
  const state = { waiting: false };
  const watch = new TurnWatch(
    clock,
    { turnMs: 0, idleMs: 0, heartbeatMissedMs: 60_000, ...bounds },
    {
      turnLimit: () => void alarms.push("limit"),
      idle: () => void alarms.push("idle"),
      heartbeatMissed: () => void alarms.push("heartbeat"),
      isWaiting: () => state.waiting,
    },
  );
  return { clock, alarms, state, watch };
}

test("OW-R5 silence of one bound is missed, a frame puts it off, and no timer is left at the end", () => {
  const { clock, alarms, watch } = watchWith({ heartbeatMissedMs: 60_000 });
  clock.advance(59_999);
  watch.frame();
  clock.advance(59_999);
  expect(alarms).toEqual([]);
  clock.advance(1);
  expect(alarms).toEqual(["heartbeat"]);
  watch.stop();
  expect(clock.pending).toBe(0);
});

test("OW-R31 a heartbeat is no progress", () => {
  const { clock, alarms, watch } = watchWith({ idleMs: 300_000 });
  for (let count = 0; count < 30; count += 1) {
    clock.advance(10_000);
    watch.frame();
  }
  expect(alarms).toEqual(["idle"]);
  watch.stop();
});

test("waiting for a tool or a person is no idleness, and what was waited for starts the time anew", () => {
  const { clock, alarms, state, watch } = watchWith({ idleMs: 1_000, heartbeatMissedMs: 1_000_000 });
  state.waiting = true;
  clock.advance(10_500);
  expect(alarms).toEqual([]);
  state.waiting = false;
  watch.progress();
  clock.advance(999);
  expect(alarms).toEqual([]);
  clock.advance(1);
  expect(alarms).toEqual(["idle"]);
  watch.stop();
  expect(clock.pending).toBe(0);
});

test("a turn limit is kept whatever the turn does; none is set where there is none", () => {
  const limited = watchWith({ turnMs: 500 });
  limited.watch.progress();
  limited.clock.advance(500);
  expect(limited.alarms).toEqual(["limit"]);
  limited.watch.stop();
  const free = watchWith({});
  free.clock.advance(59_000);
  expect(free.alarms).toEqual([]);
  free.watch.stop();
});

test("the ladder asks at once, then SIGTERM, then SIGKILL, each once; what is taken back does not come", () => {
  const clock = new FakeClock();
  const steps: string[] = [];
  const start = (): (() => void) =>
    startStopLadder(
      clock,
      { terminateAfterMs: 20_000, killAfterMs: 25_000 },
      {
        ask: () => void steps.push("ask"),
        terminate: () => void steps.push("terminate"),
        kill: () => void steps.push("kill"),
      },
    );
  start();
  expect(steps).toEqual(["ask"]);
  clock.advance(20_000);
  expect(steps).toEqual(["ask", "terminate"]);
  clock.advance(5_000);
  expect(steps).toEqual(["ask", "terminate", "kill"]);
  start()();
  clock.advance(60_000);
  expect(steps).toEqual(["ask", "terminate", "kill", "ask"]);
  expect(clock.pending).toBe(0);
});

test("what an owner that was stopped itself had no time to hear is not missed: the whole bound begins again", () => {
  const clock = new FakeClock();
  let stopped = 0;
  const alarms: string[] = [];
  new TurnWatch(
    { now: () => clock.now(), monotonic: () => clock.monotonic() + stopped, after: (ms, run) => clock.after(ms, run) },
    { turnMs: 0, idleMs: 90_000, heartbeatMissedMs: 60_000 },
    {
      turnLimit: () => void alarms.push("limit"),
      idle: () => void alarms.push("idle"),
      heartbeatMissed: () => void alarms.push("heartbeat"),
      isWaiting: () => false,
    },
  );
  clock.advance(59_000);
  stopped = 120_000;
  clock.advance(1_000);
  expect(alarms).toEqual([]);
  clock.advance(59_999);
  expect(alarms).toEqual([]);
  clock.advance(1);
  expect(alarms).toEqual(["heartbeat"]);
  clock.advance(60_000);
  expect(alarms).toEqual(["heartbeat", "idle"]);
  expect(clock.pending).toBe(0);
});
