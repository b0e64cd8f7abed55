import { expect, test } from "vitest";

import { FakeClock } from "../../base/testing/fakeClock.js";
import { createFailedAttempts, FAILED_ATTEMPTS_POLICY } from "./failedAttempts.js";

const { signal } = new AbortController();

/** Fails once and tells how long the answer is held up, milliseconds. */
async function waitOf(clock: FakeClock, attempts: ReturnType<typeof createFailedAttempts>, source: string) {
  const began = clock.monotonic();
  let over = false;
  const failing = attempts.failed(source, signal).then(() => (over = true));
  await Promise.resolve();
  for (let ms = 0; ms < 10_000; ms += 250) {
    await new Promise((resolve) => setImmediate(resolve));
    if (over as boolean) break;
    clock.advance(250);
  }
  await failing;
  return clock.monotonic() - began;
}

test("the first failures cost nothing, then the wait doubles up to its longest; another source does not wait", async () => {
  const clock = new FakeClock();
  const attempts = createFailedAttempts(clock);
  const waits: number[] = [];
  for (let count = 0; count < 11; count += 1) waits.push(await waitOf(clock, attempts, "a"));
  expect(waits).toEqual([0, 0, 0, 250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  expect(await waitOf(clock, attempts, "b")).toBe(0);
});

test("a source that has not failed for long is forgotten", async () => {
  const clock = new FakeClock();
  const attempts = createFailedAttempts(clock);
  for (let count = 0; count < 4; count += 1) await waitOf(clock, attempts, "a");
  clock.advance(FAILED_ATTEMPTS_POLICY.forgetMs + 1);
  expect(await waitOf(clock, attempts, "a")).toBe(0);
});

test("more attempts than may wait at once are refused, and those that wait end when their caller goes", async () => {
  const clock = new FakeClock();
  const attempts = createFailedAttempts(clock);
  const gone = new AbortController();
  const { free, waiting } = FAILED_ATTEMPTS_POLICY;
  const pending = Array.from({ length: free + waiting }, () => attempts.failed("a", gone.signal));
  await expect(attempts.failed("a", gone.signal)).rejects.toThrow(
    expect.objectContaining({ reason: "OVERLOADED" }) as Error,
  );
  gone.abort();
  await Promise.all(pending);
});

test("memory is bounded whatever comes", async () => {
  const clock = new FakeClock();
  const attempts = createFailedAttempts(clock);
  for (let count = 0; count < 5_000; count += 1) await attempts.failed(String(count), signal);
  expect(attempts.size).toBe(FAILED_ATTEMPTS_POLICY.sources);
});
