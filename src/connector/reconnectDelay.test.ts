import fc from "fast-check";
import { expect, test } from "vitest";

import { FakeClock } from "../base/testing/fakeClock.js";
import { seededRandom } from "../base/testing/seededRandom.js";
import { pause } from "../base/pause.js";
import { HUB_DELAYS, reconnectDelay } from "./reconnectDelay.js";

test("waits grow to a cap and stay between half and the whole of their bound", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, fraction) => {
        const bound = Math.min(HUB_DELAYS.maxMs, HUB_DELAYS.minMs * 2 ** Math.min(30, failures - 1));
        const wait = reconnectDelay(failures, fraction, HUB_DELAYS);
        expect(wait).toBeGreaterThanOrEqual(bound / 2);
        expect(wait).toBeLessThanOrEqual(bound);
      },
    ),
  );
});

test("SL-5 after 26 hours of failures the next attempt is still at most a minute away", async () => {
  const clock = new FakeClock();
  const random = seededRandom(5);
  const { signal } = new AbortController();
  const day = 26 * 60 * 60 * 1_000;
  const attempts: number[] = [];
  const trying = (async () => {
    for (let failures = 1; clock.monotonic() < day; failures++) {
      attempts.push(clock.monotonic());
      await pause(clock, reconnectDelay(failures, random.fraction(), HUB_DELAYS), signal);
    }
  })();
  // The last wait may end after the day.
  while (clock.monotonic() < day + HUB_DELAYS.maxMs) await clock.advanceAsync(60_000);
  await trying;
  expect(attempts.length).toBeGreaterThan(day / HUB_DELAYS.maxMs);
  const gaps = attempts.map((at, n) => at - (attempts[n - 1] ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(HUB_DELAYS.maxMs);
});
