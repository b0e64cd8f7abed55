import { systemClock } from "../../base/clock.js";
import { systemRandom } from "../../base/random.js";
import { scrubbedEnvironment } from "../../base/scrubbedEnvironment.js";
import type { Capability } from "../../conformance/check.js";
import { allChecks } from "../../conformance/checks/allChecks.js";
import { runChecks, type CheckOutcome } from "../../conformance/runChecks.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { EXIT_FAILURE } from "../exitCodes.js";
import { table } from "../render/table.js";
import { visible } from "../render/visible.js";

/** What {@link conformanceWorker} is asked. */
export interface ConformanceRequest {
  /** The worker under test: program and arguments, started in the present directory. */
  readonly command: readonly string[];
  /** What it cannot do. */
  readonly skip: readonly Capability[];
  /** Only checks whose name holds this text. */
  readonly only?: string;
  /** Checks that run at once. */
  readonly jobs: number;
  /** Longest wait for one thing, seconds. */
  readonly wait: number;
  /** Variables that the worker is given, `NAME=VALUE`. */
  readonly env: readonly string[];
}

/** Longest text of the last column, characters; JSON has the whole. */
const SEEN_LIMIT = 120;

/**
 * Runs the checks of the worker's contract against a program, each with a fresh process.
 * @returns the exit code where a check failed
 * @throws CliError for a variable without a value and for a name that no check has
 */
export async function conformanceWorker(
  context: CommandContext,
  request: ConformanceRequest,
): Promise<number | undefined> {
  const { command, skip, only = "", jobs, wait, env } = request;
  const [program, ...args] = command;
  if (program === undefined) throw usage("Which worker?", "Name its program and arguments after --.");
  const checks = allChecks.filter(({ name }) => name.includes(only));
  if (checks.length === 0)
    throw usage(`No check is named like ${JSON.stringify(only)}.`, "Run without --only to see all.");
  const outcomes = await runChecks({
    checks,
    skip: new Set(skip),
    jobs,
    command: [program, ...args],
    directory: process.cwd(),
    env: { ...scrubbedEnvironment(context.terminal.env), ...Object.fromEntries(env.map(variable)) },
    clock: systemClock,
    random: systemRandom,
    waitMs: wait * 1_000,
    onOutcome: (outcome) => {
      if (context.json) context.print(outcome, () => "");
    },
  });
  const count = (result: CheckOutcome["result"]): number => outcomes.filter((one) => one.result === result).length;
  const failed = count("failed");
  if (!context.json) {
    const rows = outcomes.map(({ name, result, seen }) => [name, result, visible(seen, SEEN_LIMIT)]);
    const broken = outcomes.flatMap(({ name, result, rule }) => (result === "failed" ? [`  ${name}: ${rule}`] : []));
    const totals = `${String(count("passed"))} passed, ${String(failed)} failed, ${String(count("skipped"))} skipped.`;
    const rules = broken.length === 0 ? [] : ["", "Rules that were broken:", ...broken];
    context.print(undefined, () => [table(["CHECK", "RESULT", "SEEN"], rows), ...rules, "", totals].join("\n"));
  }
  return failed === 0 ? undefined : EXIT_FAILURE;
}

function variable(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw usage(`${JSON.stringify(text)} is no variable.`, "Write --env NAME=VALUE.");
  return [text.slice(0, at), text.slice(at + 1)];
}

function usage(message: string, hint: string): CliError {
  return new CliError("INVALID_FIELD", message, hint);
}
