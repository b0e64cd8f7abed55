// Breaks a rule on purpose, one at a time, in a copy of the tree, and expects the named test to turn red. Two copies, so that two
// tests run beside one another.
// Usage: npm run breakages [-- NAME ...]
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { breakages } from "../test/breakages/breakages.mjs";
import { root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

/** Copies of the tree; most of the time of a test that starts processes is waiting. */
const COPIES = 2;
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
/** What a build leaves: the files, and by which sources they were made. */
const BUILT = ["dist", ".tools"];
/** What tools keep among the packages for the checkout that they ran in. */
const CACHES = /^\.(cache|vite|experimental)/;

const wanted = process.argv.slice(2);
const chosen = wanted.length === 0 ? breakages : breakages.filter(({ name }) => wanted.includes(name));
if (chosen.length === 0) throw new Error(`no breakage is called ${wanted.join(" or ")}`);

/** @param {import("../test/breakages/breakages.mjs").Breakage} breakage @returns {boolean} whether its test may start processes */
const needsBuild = ({ test }) => test.startsWith("test/");

// A short name: the paths of sockets are bounded, and the tests make theirs below it.
const folder = mkdtempSync(join(tmpdir(), "tb-"));
const built = join(folder, "built");
try {
  const [first = "", ...others] = Array.from({ length: Math.min(COPIES, chosen.length) }, (_, index) =>
    join(folder, String(index)),
  );
  copyTree(first);
  if (chosen.some(needsBuild)) {
    const { code, output } = await run(process.execPath, [join(first, "scripts", "build.mjs")], { cwd: first });
    if (code !== 0) throw new Error(`the copy does not build:\n${output}`);
    for (const name of BUILT) cpSync(join(first, name), join(built, name), { recursive: true });
  }
  for (const other of others) cpSync(first, other, { recursive: true, verbatimSymlinks: true });
  // The longest first.
  const queue = [...chosen].sort((a, b) => Number(needsBuild(b)) - Number(needsBuild(a)));
  let survived = 0;
  await Promise.all(
    [first, ...others].map(async (copy) => {
      for (let breakage = queue.shift(); breakage !== undefined; breakage = queue.shift()) {
        const began = performance.now();
        const verdict = await attempt(copy, breakage);
        if (verdict !== "caught") survived += 1;
        const seconds = ((performance.now() - began) / 1_000).toFixed(1);
        const word = verdict === "caught" ? "caught  " : "SURVIVED";
        console.log(`${word} ${breakage.name} (${seconds} s): ${breakage.rule}`);
        if (verdict !== "caught") console.log(verdict);
      }
    }),
  );
  console.log(`${chosen.length - survived} passed, ${survived} failed`);
  process.exitCode = survived === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {string} copy absolute path of the folder that is made */
function copyTree(copy) {
  for (const name of COPIED) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  // Each package by itself: what the tools keep beside them is the copy's own.
  const packages = join(copy, "node_modules");
  mkdirSync(packages);
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (!CACHES.test(name)) symlinkSync(join(root, "node_modules", name), join(packages, name));
  }
}

/**
 * @param {string} copy
 * @param {import("../test/breakages/breakages.mjs").Breakage} breakage
 * @returns {Promise<string>} "caught", or what went wrong
 */
async function attempt(copy, breakage) {
  const { file, find, replace, test, title } = breakage;
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
  const temporary = join(copy, "t");
  mkdirSync(temporary);
  try {
    const { output } = await run(
      join(copy, "node_modules", ".bin", "vitest"),
      // The modules that are as they were need not be made again.
      ["run", test, "-t", title, "--experimental.fsModuleCache", "--reporter=json", `--outputFile=${report}`],
      { cwd: copy, env: { TMPDIR: temporary, TALARIA_BUILT: breakage.bundled === true ? "" : "1" } },
    );
    if (!existsSync(report)) return `  the tests did not run:\n${output.slice(-2_000)}`;
    const { numFailedTests, numPassedTests } = JSON.parse(readFileSync(report, "utf8"));
    if (numFailedTests > 0) return "caught";
    return numPassedTests > 0 ? `  ${test} stayed green` : `  no test of ${test} is called like ${title}`;
  } finally {
    endProcessesIn(temporary);
    rmSync(temporary, { recursive: true, force: true });
    writeFileSync(path, whole);
    if (breakage.bundled === true) {
      for (const name of BUILT) {
        rmSync(join(copy, name), { recursive: true, force: true });
        cpSync(join(built, name), join(copy, name), { recursive: true });
      }
    }
  }
}

/**
 * Ends what works in a folder: where a rule is broken, a test may leave processes that nobody ends any more.
 * @param {string} folder an absolute path
 */
function endProcessesIn(folder) {
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended, or is another user's.
    }
  }
}
