import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { systemRandom } from "../../src/base/random.js";
import { scrubbedEnvironment } from "../../src/base/scrubbedEnvironment.js";
import { SKIPPABLE } from "../../src/cli/register/conformanceCommands.js";
import { CAPABILITIES } from "../../src/conformance/check.js";
import { allChecks } from "../../src/conformance/checks/allChecks.js";
import { runChecks, type CheckOutcome } from "../../src/conformance/runChecks.js";
import { buildWorker } from "./conformanceWorkers.js";
import { outsideTool } from "./outsideTool.js";
import { paths } from "./paths.js";
import { makePythonStubs } from "./pythonStubs.js";

const ALL_MS = 240_000;
const python = outsideTool("python");
let broken = "";
let example = "";

beforeAll(async () => {
  broken = await buildWorker("test/interop/brokenWorker.ts", "brokenWorker");
  example = await buildWorker("examples/ts-worker/worker.ts", "tsWorker");
});

/** Runs checks against a worker. */
function run(
  command: readonly [string, ...string[]],
  more: {
    only?: readonly string[];
    skip?: readonly (typeof CAPABILITIES)[number][];
    waitMs?: number;
    env?: object;
  } = {},
): Promise<readonly CheckOutcome[]> {
  const { only, skip = [], waitMs = 20_000, env = {} } = more;
  return runChecks({
    checks: only === undefined ? allChecks : allChecks.filter(({ name }) => only.includes(name)),
    skip: new Set(skip),
    jobs: 2,
    command,
    directory: paths.root,
    env: { ...scrubbedEnvironment(process.env), ...env },
    clock: systemClock,
    random: systemRandom,
    waitMs,
  });
}

const unmet = (outcomes: readonly CheckOutcome[]): readonly string[] =>
  outcomes.filter(({ result }) => result !== "passed").map(({ name, result, seen }) => `${name}: ${result}: ${seen}`);

test("the worker that comes with the gateway passes every check", { timeout: ALL_MS }, async () => {
  const outcomes = await run([process.execPath, join(paths.root, "dist/worker/main.cjs")]);
  expect(unmet(outcomes)).toEqual([]);
  expect(outcomes).toHaveLength(allChecks.length);
});

test(
  "the example in TypeScript passes; what it cannot be told to do is skipped with a mark",
  { timeout: ALL_MS },
  async () => {
    const outcomes = await run([process.execPath, example], { skip: ["children", "spin"] });
    expect(unmet(outcomes)).toEqual(["children: skipped: --skip children", "busy loop: skipped: --skip spin"]);
  },
);

python.test(
  "the example in Python passes; what it does not do is skipped with a mark",
  { timeout: ALL_MS },
  async () => {
    const stubs = await makePythonStubs(python.path);
    try {
      const env = { PYTHONPATH: stubs.directory, PYTHONDONTWRITEBYTECODE: "1" };
      const program = join(paths.root, "examples/python-worker/worker.py");
      const skip = ["tool-bounds", "store", "long-answers", "children", "spin", "outbox"] as const;
      const outcomes = await run([python.path, program], { skip, env });
      expect(unmet(outcomes).filter((line) => !line.includes(": skipped: --skip "))).toEqual([]);
      expect(unmet(outcomes)).toHaveLength(7);
    } finally {
      stubs.remove();
    }
  },
);

const faults: readonly [fault: string, check: string, seen: RegExp][] = [
  ["makes up a token", "hello", /token is not the one/],
  ["prints the token", "secrets", /printed/],
  ["skips a sequence", "turn", /frame 2 has the sequence 3/],
  ["speaks before ready", "turn", /events was sent in the phase bootstrapped/],
  ["streams another answer", "turn", /streamed was "something else"/],
  ["exits with 3", "turn", /ended with code 3/],
  ["ends before finish", "result waits for finish", /FinishExecution was called/],
  ["sends no heartbeats", "heartbeats", /no frame heartbeat/],
  ["takes no notice of credit", "credit", /bytes are unacknowledged|no flood that stands/],
  ["is deaf to stop", "stop", /no frame result/],
  ["outlives its owner", "owner dies in a turn", /no end of the process/],
];

describe("a worker that breaks one rule", () => {
  test("passes the checks below as long as it breaks none", { timeout: ALL_MS }, async () => {
    const only = [...new Set(faults.map(([, check]) => check))];
    const outcomes = await run([process.execPath, broken, "none"], { only });
    expect(unmet(outcomes)).toEqual([]);
    expect(outcomes).toHaveLength(only.length);
  });

  test.each(faults)("one that %s fails the check %s", async (fault, check, seen) => {
    const [outcome] = await run([process.execPath, broken, fault], { only: [check], waitMs: 4_000 });
    expect(outcome).toMatchObject({ name: check, result: "failed", seen: expect.stringMatching(seen) as string });
  });
});

test("a program that is no worker, or does not exist, fails in words", async () => {
  const [none] = await run(["/nonexistent/worker"], { only: ["hello"], waitMs: 4_000 });
  expect(none).toMatchObject({ result: "failed", seen: expect.stringContaining("could not be started") as string });
  const [silent] = await run(["/bin/true"], { only: ["hello"], waitMs: 4_000 });
  expect(silent).toMatchObject({ result: "failed", seen: expect.stringContaining("it ended with code 0") as string });
});

test("the command line knows every capability, and every name is unique", () => {
  expect([...SKIPPABLE]).toEqual([...CAPABILITIES]);
  expect(new Set(allChecks.map(({ name }) => name)).size).toBe(allChecks.length);
});
