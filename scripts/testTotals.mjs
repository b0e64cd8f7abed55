// Prints "N passed, N failed" over the vitest JSON reports in a directory. Usage: testTotals.mjs DIRECTORY [EXTRA_FAILED]
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const directory = process.argv[2] ?? "";
  const sum = { passed: 0, failed: Number(process.argv[3] ?? 0) };
  for (const name of filesBelow(directory).filter((path) => path.endsWith(".json"))) {
    const { passed, failed } = totals(JSON.parse(readFileSync(join(directory, name), "utf8")));
    sum.passed += passed;
    sum.failed += failed;
  }
  console.log(`${sum.passed} passed, ${sum.failed} failed`);
}
