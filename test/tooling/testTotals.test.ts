import { expect, it } from "vitest";
import { totals } from "../../scripts/testTotals.mjs";

const passed = { status: "passed" };
const failed = { status: "failed" };
const skipped = { status: "skipped" };

it("counts the tests of every file", () => {
  const report = {
    testResults: [
      { status: "passed", assertionResults: [passed, passed, skipped] },
      { status: "failed", assertionResults: [passed, failed, failed] },
    ],
  };
  expect(totals(report)).toEqual({ passed: 3, failed: 2 });
});

it("counts a file that fails outside its tests as one failure", () => {
  const report = {
    testResults: [
      { status: "failed", assertionResults: [] },
      { status: "failed", assertionResults: [passed] },
    ],
  };
  expect(totals(report)).toEqual({ passed: 1, failed: 2 });
});
