// Runs every check and prints one table. `--no-tests` leaves the fast tests to a caller who runs them anyway.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { breaking } from "./breaking.mjs";
import { generate } from "./generate.mjs";
import { localBin, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

/** @typedef {{ code: number, output: string, skipped?: boolean }} Outcome */
/** @typedef {{ name: string, run: () => Promise<Outcome> }} Step */

/**
 * @param {string} command a package's command
 * @param {...string} args
 * @returns {() => Promise<Outcome>}
 */
function tool(command, ...args) {
  return async () => {
    const path = localBin(command);
    return path === undefined ? { code: 1, output: `${command} is not installed: run npm ci\n` } : run(path, args);
  };
}

/** @type {Step} */
const generated = {
  name: "generate",
  run: async () => {
    const outcome = await generate();
    return outcome === "no tools" ? { code: 1, output: "run npm ci\n" } : { code: 0, output: "" };
  },
};

/** Steps that only read the tree. They run two at a time, the longest first. @type {Step[]} */
const readers = [
  { name: "eslint", run: tool("eslint", ".") },
  { name: "tsc", run: tool("tsc", "--noEmit", "-p", ".") },
  { name: "prettier", run: tool("prettier", "--check", "--log-level", "warn", ".") },
  { name: "buf lint", run: tool("buf", "lint") },
  {
    name: "buf format",
    run: async () =>
      existsSync(join(root, "proto", "talaria"))
        ? tool("buf", "format", "--diff", "--exit-code", "--path", "proto/talaria")()
        : { code: 0, output: "SKIPPED: there is no proto/talaria\n", skipped: true },
  },
  { name: "buf breaking", run: breaking },
];

/** The tests run alone, so that the checks do not take their processor time. @type {Step} */
const tests = { name: "fast tests", run: tool("vitest", "run", "--project", "unit", "--project", "process") };

/** @type {{ name: string, verdict: "ok" | "FAILED" | "skipped", seconds: number }[]} */
const rows = [];

/** @param {Step} step */
async function perform(step) {
  const began = performance.now();
  /** @type {Outcome} */
  const outcome = await step.run().catch((error) => ({ code: 1, output: `${error?.message ?? error}\n` }));
  const verdict = outcome.code !== 0 ? "FAILED" : outcome.skipped === true ? "skipped" : "ok";
  rows.push({ name: step.name, verdict, seconds: (performance.now() - began) / 1000 });
  if (verdict === "FAILED") console.log(`\n--- ${step.name} failed ---\n${outcome.output.trimEnd()}\n`);
  if (verdict === "skipped") console.log(`${step.name}: ${outcome.output.trimEnd()}`);
  return outcome.code === 0;
}

const order = [generated, ...readers, tests].map((step) => step.name);
await perform(generated);
const waiting = [...readers];
await Promise.all(
  [0, 1].map(async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await perform(step);
  }),
);
if (!process.argv.includes("--no-tests")) await perform(tests);

console.log("");
for (const row of rows.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))) {
  console.log(`${row.name.padEnd(14)}${row.verdict.padEnd(10)}${row.seconds.toFixed(1).padStart(6)} s`);
}
const failed = rows.filter((row) => row.verdict === "FAILED").length;
console.log(failed === 0 ? "check: all passed" : `check: ${failed} of ${rows.length} failed`);
process.exitCode = failed === 0 ? 0 : 1;
