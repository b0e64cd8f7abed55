import type { Clock } from "../../base/clock.js";

/** What a ladder does, in order. */
export interface StopSteps {
  /** Asks the worker to end the turn. */
  readonly ask: () => void;
  /** Asks every process of its group to end. */
  readonly terminate: () => void;
  /** Ends every process of its group. */
  readonly kill: () => void;
}

/** When each step is due after the first Stop, milliseconds. */
export interface StopTimes {
  readonly terminateAfterMs: number;
  readonly killAfterMs: number;
}

/**
 * Ends a turn within a fixed time of its first Stop, whatever the worker does or says meanwhile.
 * @returns what takes the remaining steps back.
 */
export function startStopLadder(clock: Clock, times: StopTimes, steps: StopSteps): () => void {
  steps.ask();
  const cancelTerminate = clock.after(times.terminateAfterMs, steps.terminate);
  const cancelKill = clock.after(times.killAfterMs, steps.kill);
  return () => {
    cancelTerminate();
    cancelKill();
  };
}
