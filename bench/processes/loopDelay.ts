import { monitorEventLoopDelay } from "node:perf_hooks";

/** How often the loop is looked at, milliseconds. */
const RESOLUTION_MS = 5;
const NANOSECONDS = 1_000_000;

const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

/** How late this process's loop was since the last call, milliseconds beyond the look's own interval; the first call begins to look. */
export function loopDelay(): { readonly p50: number; readonly p99: number; readonly max: number } {
  if (histogram.enable()) return { p50: 0, p99: 0, max: 0 };
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS);
  const seen = {
    p50: late(histogram.percentile(50)),
    p99: late(histogram.percentile(99)),
    max: late(histogram.max),
  };
  histogram.reset();
  return seen;
}
