import type { Clock } from "./clock.js";

/** A timer that runs later than this was kept waiting by the process itself, milliseconds. */
const OVERSLEPT_MS = 1_000;

/**
 * Runs `run` once, after `ms` milliseconds at whose end this process was awake. One that was stopped, or held up as a whole, finds its
 * timers due before it has read a byte of what came meanwhile, from others that may have been held up with it: `again` milliseconds are
 * given then in place of what was left.
 * @returns a cancel function.
 */
export function whenAwake(clock: Clock, ms: number, run: () => void, again = ms): () => void {
  let cancel = (): void => undefined;
  const arm = (wait: number): void => {
    const due = clock.monotonic() + wait;
    cancel = clock.after(wait, () => {
      if (clock.monotonic() - due > OVERSLEPT_MS) arm(again);
      else run();
    });
  };
  arm(ms);
  return () => {
    cancel();
  };
}
