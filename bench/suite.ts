import type { Row } from "./lib/row.js";

/** How a suite is run. */
export interface SuiteOptions {
  /** Interleaved rounds of each figure. */
  readonly rounds: number;
  /** Factor on the amount of work in one round, 1 in a full run. */
  readonly scale: number;
  /** Says how far the run is. */
  readonly progress: (text: string) => void;
}

/** Measures one subject. */
export type Suite = (options: SuiteOptions) => Promise<readonly Row[]>;

/** Runs `measure` once per round and name, interleaved. @returns the rounds by name. */
export async function interleave<Name extends string, Result>(
  rounds: number,
  names: readonly Name[],
  measure: (name: Name, round: number) => Promise<Result>,
): Promise<Readonly<Record<Name, readonly Result[]>>> {
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Result[]>;
  for (let round = 0; round < rounds; round++) {
    // Every other round goes backwards, so that no one is always first.
    const order = round % 2 === 0 ? names : [...names].reverse();
    for (const name of order) results[name].push(await measure(name, round));
  }
  return results;
}
