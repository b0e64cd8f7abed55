/** The only source of time and timers; injected so that a day's schedule is tested in milliseconds. */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch. May jump; use it for what is stored or sent. */
  now(): number;
  /** Milliseconds since an arbitrary start. Never goes back; use it for durations. */
  monotonic(): number;
  /**
   * Runs `run` once, `ms` milliseconds from now (negative counts as 0, any finite length).
   * @returns a cancel function; calling it twice, or after the run, does nothing.
   */
  after(ms: number, run: () => void): () => void;
}

/** Node wraps longer timers to 1 ms, so a longer wait is cut into steps of this length. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's clock. Its timers keep the process alive until they ran or were cancelled. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    let timer: NodeJS.Timeout;
    const arm = (remaining: number): void => {
      const step = Math.min(remaining, LONGEST_TIMER_MS);
      timer = setTimeout(() => {
        if (remaining > step) arm(remaining - step);
        else run();
      }, step);
    };
    arm(Math.max(0, ms));
    return () => {
      clearTimeout(timer);
    };
  },
};
