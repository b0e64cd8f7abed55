import { expect, test } from "vitest";

import { reasons, type Reason } from "../rpc/reasons.js";
import { EXIT_CODES, exitCodeOf } from "./exitCodes.js";

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

test("every reason ends with a code that is in the table and is not success", () => {
  const codes = EXIT_CODES.map(({ code }) => code).filter((code) => code !== 0);
  for (const reason of Object.keys(reasons) as Reason[]) expect(codes).toContain(exitCodeOf(reason));
});
