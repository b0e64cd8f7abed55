import { expect, test } from "vitest";

import { FakeClock } from "../base/testing/fakeClock.js";
import { createHeartbeat } from "./heartbeat.js";
import type { WorkerFrame } from "./frameSender.js";
import { addUsage, NO_USAGE } from "./usageTally.js";

function bench() {
  const clock = new FakeClock(0);
  const told: (bigint | undefined)[] = [];
  const sendUrgent = (frame: WorkerFrame): void => {
    if (frame.$case === "heartbeat") told.push(frame.value.usage?.inputTokens);
  };
  return { clock, told, heartbeat: createHeartbeat({ sendUrgent }, clock, 1_000) };
}
const used = (inputTokens: number) => addUsage(NO_USAGE, { inputTokens });

test("what was used is told at once and again with each beat, and the beats come at their times", () => {
  const { clock, told, heartbeat } = bench();
  clock.advance(1_000);
  clock.advance(600);
  heartbeat.tell(used(5));
  expect(told).toEqual([undefined, 5n]);
  clock.advance(399);
  expect(told).toHaveLength(2);
  clock.advance(1);
  expect(told).toEqual([undefined, 5n, 5n]);
  heartbeat.stop();
});

test("a muted heartbeat tells it once it is no longer muted, and a stopped one never", () => {
  const { clock, told, heartbeat } = bench();
  heartbeat.mute(1_500);
  heartbeat.tell(used(7));
  clock.advance(1_000);
  expect(told).toEqual([]);
  clock.advance(1_000);
  expect(told).toEqual([7n]);
  heartbeat.stop();
  heartbeat.tell(used(9));
  clock.advance(5_000);
  expect(told).toEqual([7n]);
  expect(clock.pending).toBe(0);
});
