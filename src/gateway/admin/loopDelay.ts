import { monitorEventLoopDelay } from "node:perf_hooks";

import type { Clock } from "../../base/clock.js";

/** How late the event loop runs. */
export interface LoopDelay {
  /** 99th percentile of the last one to two minutes, milliseconds. */
  p99Ms(): number;
  /** Stops measuring. */
  stop(): void;
}

const WINDOW_MS = 60_000;

/** Measures from here on. */
export function measureLoopDelay(clock: Clock): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: 10 });
  histogram.enable();
  let since = clock.monotonic();
  let previous = 0;
  return {
    p99Ms() {
      // The histogram counts the 10 ms that each sample waits on purpose.
      const late = histogram.count === 0 ? 0 : Math.max(0, histogram.percentile(99) / 1e6 - 10);
      const result = Math.max(previous, late);
      if (clock.monotonic() - since >= WINDOW_MS) {
        previous = late;
        since = clock.monotonic();
        histogram.reset();
      }
      return result;
    },
    stop() {
      histogram.disable();
    },
  };
}
