import { expect, test } from "vitest";

import { waitLeft } from "./waitLeft.js";

test.each([
  [undefined, 0],
  [999, 0],
  [1_000, 0],
  [1_001, 1],
  [1_060, 60],
  [1_061, 0],
  [86_401_000, 0],
])("a wait until %s has %i ms left, and a clock that was set back lengthens none", (until, left) => {
  expect(waitLeft(until, 1_000, 60)).toBe(left);
});
