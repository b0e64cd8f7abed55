import fc from "fast-check";
import { expect, test } from "vitest";

import { clockDifference } from "./clockDifference.js";

test.each([
  ["agrees and the way takes no time", { askedAt: 1_000, answeredAt: 1_000, said: 1_000 }, 0, 0],
  ["agrees, asked in the middle of the way", { askedAt: 1_000, answeredAt: 1_200, said: 1_100 }, 0, 100],
  ["is an hour ahead", { askedAt: 1_000, answeredAt: 1_200, said: 3_601_100 }, 3_600_000, 100],
  ["is an hour behind", { askedAt: 5_000_000, answeredAt: 5_000_010, said: 1_400_005 }, -3_600_000, 5],
])("a clock that %s", (_what, reading, aheadMs, errorMs) => {
  expect(clockDifference(reading)).toEqual({ aheadMs, errorMs });
});

test("the true difference is never further from the estimate than the error, wherever on the way the clock was read", () => {
  const ms = fc.integer({ min: 0, max: 10_000 });
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), ms, ms, (difference, there, back) => {
      const askedAt = 1_700_000_000_000;
      const said = askedAt + there + difference;
      const { aheadMs, errorMs } = clockDifference({ askedAt, answeredAt: askedAt + there + back, said });
      expect(Math.abs(aheadMs - difference)).toBeLessThanOrEqual(errorMs);
    }),
  );
});
