// Prints the tests that passed only when they were tried again, and "N passed, N failed", over the vitest JSON reports in a
// directory. Usage: testTotals.mjs DIRECTORY [EXTRA_FAILED]
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { filesBelow } from "./lib/paths.mjs";

/**
 * Counts the tests of one report. A file that fails outside its tests (it does not load, a hook throws) counts as one.
 * @param {{ testResults: { status: string, assertionResults: { status: string }[] }[] }} report
 * @returns {{ passed: number, failed: number }}
 */
export function totals(report) {
  let passed = 0;
  let failed = 0;
  for (const file of report.testResults) {
    const failedHere = file.assertionResults.filter((test) => test.status === "failed").length;
    passed += file.assertionResults.filter((test) => test.status === "passed").length;
    failed += failedHere === 0 && file.status === "failed" ? 1 : failedHere;
  }
  return { passed, failed };
}

/**
 * Tests of one report that failed before they passed, each with the first line of why.
 * @param {{ testResults: { assertionResults: { status: string, fullName: string, failureMessages: string[] }[] }[] }} report
 * @returns {string[]}
 */
export function triedAgain(report) {
  return report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, failureMessages }) => status === "passed" && failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages[0]?.split("\n")[0] ?? ""}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const directory = process.argv[2] ?? "";
  const sum = { passed: 0, failed: Number(process.argv[3] ?? 0) };
  for (const name of filesBelow(directory).filter((path) => path.endsWith(".json"))) {
    const report = JSON.parse(readFileSync(join(directory, name), "utf8"));
    for (const line of triedAgain(report)) console.log(`passed only when tried again: ${line}`);
    const { passed, failed } = totals(report);
    sum.passed += passed;
    sum.failed += failed;
  }
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
}
