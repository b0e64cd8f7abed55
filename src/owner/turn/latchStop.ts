import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import type { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import { startStopLadder, type StopSteps } from "./stopLadder.js";

/** A latched Stop. */
export interface LatchedStop {
  readonly cause: StopCause;
  /** When the worker is killed at the latest, epoch milliseconds. */
  readonly killAt: number;
  /** Takes back the steps that are still to come. */
  readonly cancel: () => void;
}

/**
 * Latches a Stop and starts its ladder.
 * @param steps what ends a turn that runs; undefined where there is nothing to be asked.
 */
export function latchStop(
  clock: Clock,
  budgets: Pick<Budgets, "stopTermAfterMs" | "stopKillAfterMs">,
  cause: StopCause,
  steps: StopSteps | undefined,
): LatchedStop {
  const { stopTermAfterMs: terminateAfterMs, stopKillAfterMs: killAfterMs } = budgets;
  const killAt = clock.now() + killAfterMs;
  if (steps === undefined) return { cause, killAt, cancel: () => undefined };
  return { cause, killAt, cancel: startStopLadder(clock, { terminateAfterMs, killAfterMs }, steps) };
}
