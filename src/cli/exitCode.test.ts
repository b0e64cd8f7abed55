import { expect, test } from "vitest";

import { reasons, type Reason } from "../rpc/reasons.js";
import { exitCodeOf } from "./exitCode.js";

test.each([
  ["PROVIDER_QUOTA", 75],
  ["PROVIDER_RATE_LIMIT", 75],
  ["PROVIDER_AUTH", 78],
  ["CONFIG_INVALID", 78],
  ["TOKEN_INVALID", 78],
  ["UNAVAILABLE", 69],
  ["UNKNOWN_AGENT", 66],
  ["INVALID_FIELD", 64],
  ["INTERNAL", 70],
] as const)("%s ends with %i", (reason, code) => {
  expect(exitCodeOf(reason)).toBe(code);
});

test("every reason ends with a code that is not success", () => {
  for (const reason of Object.keys(reasons) as Reason[]) {
    expect(exitCodeOf(reason)).toBeGreaterThan(0);
    expect(exitCodeOf(reason)).toBeLessThan(256);
  }
});
