import type { Capability, Check } from "./check.js";
import { CheckFailure } from "./checkFailure.js";
import { Trial, type TrialSettings } from "./trial.js";

/** What became of a check. */
export interface CheckOutcome {
  readonly name: string;
  readonly rule: string;
  readonly result: "passed" | "failed" | "skipped";
  /** What was seen, why it failed, or what was said to be missing. One line. */
  readonly seen: string;
}

/** How {@link runChecks} runs. */
export interface RunOptions extends TrialSettings {
  readonly checks: readonly Check[];
  /** What the worker cannot do. */
  readonly skip: ReadonlySet<Capability>;
  /** Checks that run at once. */
  readonly jobs: number;
  /** Told of each outcome as it comes. */
  readonly onOutcome?: (outcome: CheckOutcome) => void;
}

/** Runs checks, each with a worker of its own. @returns their outcomes in the order of the checks. */
export async function runChecks(options: RunOptions): Promise<readonly CheckOutcome[]> {
  const { checks, skip, jobs, onOutcome } = options;
  const outcomes = new Array<CheckOutcome>(checks.length);
  const left = [...checks.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, check] = next;
      const outcome = await outcomeOf(check, skip, options);
      outcomes[at] = outcome;
      onOutcome?.(outcome);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, work));
  return outcomes;
}

async function outcomeOf(check: Check, skip: ReadonlySet<Capability>, settings: TrialSettings): Promise<CheckOutcome> {
  const { name, rule, needs } = check;
  if (needs !== undefined && skip.has(needs)) return { name, rule, result: "skipped", seen: `--skip ${needs}` };
  const trial = new Trial(settings);
  try {
    const seen = await check.run(trial);
    const [violation] = trial.owner.attachment?.violations ?? [];
    if (violation !== undefined) throw new CheckFailure(violation);
    return { name, rule, result: "passed", seen: oneLine(seen) };
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    const [violation] = trial.owner.attachment?.violations ?? [];
    const seen =
      violation === undefined || violation === error.message ? error.message : `${violation}; ${error.message}`;
    return { name, rule, result: "failed", seen: oneLine(seen) };
  } finally {
    await trial.dispose();
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
