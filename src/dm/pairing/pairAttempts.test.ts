import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { createPairAttempts, FREE_ATTEMPTS, LONGEST_WAIT_MS } from "./pairAttempts.js";

test("a source waits longer with each wrong secret after the first ones, to a bound, and others do not", () => {
  const clock = new FakeClock();
  const attempts = createPairAttempts(clock);
  for (let n = 1; n < FREE_ATTEMPTS; n++) attempts.failed("a");
  expect(attempts.waitOf("a")).toBe(0);
  const waits = Array.from({ length: 8 }, () => {
    attempts.failed("a");
    return attempts.waitOf("a");
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, LONGEST_WAIT_MS, LONGEST_WAIT_MS]);
  expect(attempts.waitOf("b")).toBe(0);
  clock.advance(LONGEST_WAIT_MS);
  expect(attempts.waitOf("a")).toBe(0);
});

test("a right secret, and a long quiet, let a source start anew", () => {
  const clock = new FakeClock();
  const attempts = createPairAttempts(clock);
  for (let n = 0; n < 2 * FREE_ATTEMPTS; n++) attempts.failed("a");
  attempts.succeeded("a");
  expect(attempts.waitOf("a")).toBe(0);
  for (let n = 0; n < 2 * FREE_ATTEMPTS; n++) attempts.failed("a");
  clock.advance(600_001);
  attempts.failed("a");
  expect(attempts.waitOf("a")).toBe(0);
});

test("many sources do not fill the memory: the one that was quiet longest is forgotten", () => {
  const attempts = createPairAttempts(new FakeClock());
  for (let n = 0; n < FREE_ATTEMPTS; n++) attempts.failed("first");
  expect(attempts.waitOf("first")).toBeGreaterThan(0);
  for (let n = 0; n < 1_000; n++) attempts.failed(`s${String(n)}`);
  expect(attempts.waitOf("first")).toBe(0);
});
