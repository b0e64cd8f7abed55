/** Length of a day, milliseconds. */
export const DAY_MS = 86_400_000;

/** Number of the UTC day that a moment lies in, counted from the Unix epoch. @param ms epoch milliseconds */
export function utcDay(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** The first moment of a UTC day, epoch milliseconds. */
export function startOfUtcDay(day: number): number {
  return day * DAY_MS;
}

/** When the UTC day after a moment begins, epoch milliseconds. */
export function nextUtcDay(now: number): number {
  return startOfUtcDay(utcDay(now) + 1);
}

/** A UTC day as `YYYY-MM-DD`. */
export function nameOfUtcDay(day: number): string {
  return new Date(startOfUtcDay(day)).toISOString().slice(0, 10);
}

/** Reads `YYYY-MM-DD` back; undefined where the text names no day. */
export function utcDayNamed(name: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(name)) return undefined;
  const ms = Date.parse(`${name}T00:00:00.000Z`);
  if (!Number.isFinite(ms)) return undefined;
  // The 30th of February is read as a day of March.
  return nameOfUtcDay(utcDay(ms)) === name ? utcDay(ms) : undefined;
}
