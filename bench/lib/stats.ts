/** The value at a quantile (0 to 1) of the numbers, by nearest rank. @throws Error where there are none. */
export function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(at * sorted.length) - 1))];
  if (value === undefined) throw new Error("no values were measured");
  return value;
}

/** The middle one of the numbers; of an even count the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new Error("no values were measured");
  return (upper + lower) / 2;
}

/** Several rounds of one figure. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Median, least and greatest of the rounds. */
export function spread(rounds: readonly number[]): Spread {
  return { median: median(rounds), min: Math.min(...rounds), max: Math.max(...rounds) };
}

/** The quotients of two figures, round by round, so that slow drift of the machine cancels. */
export function ratios(values: readonly number[], baselines: readonly number[]): Spread {
  return spread(values.map((value, round) => value / (baselines[round] ?? Number.NaN)));
}
