/**
 * How much of a wait is left whose end is stored, milliseconds; 0 where it is over or there is none. An end that is further away than the
 * longest wait was written by a clock that has been set back since: it holds nobody up. Pure.
 * @param until epoch milliseconds
 * @param now epoch milliseconds
 * @param longestMs the longest wait that is ever stored
 */
export function waitLeft(until: number | undefined, now: number, longestMs: number): number {
  const left = (until ?? 0) - now;
  return left <= 0 || left > longestMs ? 0 : left;
}
