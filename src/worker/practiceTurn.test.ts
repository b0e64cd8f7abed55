import { expect, test } from "vitest";
import { FakeClock } from "../base/testing/fakeClock.js";
import { seededRandom } from "../base/testing/seededRandom.js";
import { practiceTurn } from "./practiceTurn.js";

test("a practice turn runs to its end, leaves no timer and may be repeated", async () => {
  const clock = new FakeClock();
  for (let round = 0; round < 3; round++) await practiceTurn(clock, seededRandom());
  expect(clock.pending).toBe(0);
});
