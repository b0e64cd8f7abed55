// Breaks a rule on purpose, one at a time, in a copy of the tree, and expects the named test to turn red.
// Usage: npm run breakages [-- NAME ...]
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { breakages } from "../test/breakages/breakages.mjs";
import { root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

const COPIED = [
  "src",
  "test",
  "proto",
  "scripts",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "README.md",
  "docs",
];

const wanted = process.argv.slice(2);
const chosen = wanted.length === 0 ? breakages : breakages.filter(({ name }) => wanted.includes(name));
if (chosen.length === 0) throw new Error(`no breakage is called ${wanted.join(" or ")}`);

const copy = mkdtempSync(join(tmpdir(), "talaria-breakages-"));
try {
  for (const name of COPIED) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  let survived = 0;
  for (const breakage of chosen) {
    const began = performance.now();
    const verdict = await attempt(breakage);
    if (verdict !== "caught") survived += 1;
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    console.log(`${verdict === "caught" ? "caught  " : "SURVIVED"} ${breakage.name} (${seconds} s): ${breakage.rule}`);
    if (verdict !== "caught") console.log(verdict);
  }
  console.log(`${chosen.length - survived} passed, ${survived} failed`);
  process.exitCode = survived === 0 ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/**
 * @param {import("../test/breakages/breakages.mjs").Breakage} breakage
 * @returns {Promise<string>} "caught", or what went wrong
 */
async function attempt({ file, find, replace, test, title }) {
  const path = join(copy, file);
  const whole = readFileSync(path, "utf8");
  const places = whole.split(find).length - 1;
  if (places !== 1) return `  the text to break stands ${places} times in ${file}`;
  writeFileSync(
    path,
    whole.replace(find, () => replace),
  );
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  try {
    const { output } = await run(
      join(copy, "node_modules", ".bin", "vitest"),
      ["run", test, "-t", title, "--reporter=json", `--outputFile=${report}`],
      { cwd: copy },
    );
    if (!existsSync(report)) return `  the tests did not run:\n${output.slice(-2_000)}`;
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, "utf8"));
    if (numFailedTests > 0) return "caught";
    return numPassedTests > 0 ? `  ${test} stayed green` : `  no test of ${test} is called like ${title}`;
  } finally {
    writeFileSync(path, whole);
  }
}
