import { ratios, spread, type Spread } from "./stats.js";

/** What a figure must reach. `of` names what is compared: the quotient to the baseline, or the value itself. */
export interface Goal {
  readonly of: "ratio" | "value";
  readonly atMost?: number;
  readonly atLeast?: number;
  /** The more ambitious bound, in the same direction. */
  readonly stretch?: number;
}

/** CPU time in microseconds for one unit of work. */
export interface CpuOfBothEnds {
  /** The end that receives: the owner, the server. */
  readonly receiver: number;
  /** The end that sends: the workers together, the client. */
  readonly sender: number;
  /** The same of the baseline, where it has both ends. */
  readonly baseline?: { readonly receiver: number; readonly sender: number };
}

/** One line of the result. */
export interface Row {
  /** The goal's name, such as `G1`; empty where no goal speaks of it. */
  readonly goalName: string;
  /** What was measured, with its burst, concurrency or size. */
  readonly metric: string;
  readonly unit: string;
  readonly value: Spread;
  readonly baselineName: string;
  readonly baseline: Spread | undefined;
  readonly ratio: Spread | undefined;
  readonly goal: Goal | undefined;
  readonly verdict: "met" | "stretch met" | "not met" | "no goal";
  /** Deltas in one turn of the source's event loop. */
  readonly burst: number | undefined;
  readonly cpu: CpuOfBothEnds | undefined;
}

/** What {@link makeRow} is given. */
export interface RowParts {
  readonly goalName?: string;
  readonly metric: string;
  readonly unit: string;
  /** One figure for each round. */
  readonly values: readonly number[];
  readonly baseline?: { readonly name: string; readonly values: readonly number[] };
  readonly goal?: Goal;
  readonly burst?: number;
  readonly cpu?: CpuOfBothEnds;
}

/** Makes a row of the rounds; the ratio is the median of the rounds' own ratios. */
export function makeRow({ goalName = "", metric, unit, values, baseline, goal, burst, cpu }: RowParts): Row {
  const value = spread(values);
  const ratio = baseline === undefined ? undefined : ratios(values, baseline.values);
  return {
    goalName,
    metric,
    unit,
    value,
    baselineName: baseline?.name ?? "",
    baseline: baseline === undefined ? undefined : spread(baseline.values),
    ratio,
    goal,
    verdict: judge(goal, goal?.of === "ratio" ? ratio?.median : value.median),
    burst,
    cpu,
  };
}

function judge(goal: Goal | undefined, figure: number | undefined): Row["verdict"] {
  if (goal === undefined || figure === undefined) return "no goal";
  const { atMost, atLeast, stretch } = goal;
  if ((atMost !== undefined && figure > atMost) || (atLeast !== undefined && figure < atLeast)) return "not met";
  if (stretch === undefined) return "met";
  return (atMost === undefined ? figure >= stretch : figure <= stretch) ? "stretch met" : "met";
}
