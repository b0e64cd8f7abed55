import { expect, it } from "vitest";
import { totals, triedAgain } from "../../scripts/testTotals.mjs";

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

it("names the tests that failed before they passed, and why", () => {
  const why = ["Error: late\n    at there", "Error: again"];
  const assertionResults = [
    { status: "passed", fullName: "at once", failureMessages: [] },
    { status: "passed", fullName: "at last", failureMessages: why },
    { status: "failed", fullName: "never", failureMessages: why },
  ];
  expect(triedAgain({ testResults: [{ assertionResults }] })).toEqual(["at last: Error: late"]);
});
