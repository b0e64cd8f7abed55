import { monitorEventLoopDelay, type IntervalHistogram } from "node:perf_hooks";
import type { Clock } from "../base/clock.js";
import type { AttachSession } from "./attachSession.js";
import { usageSoFar } from "./usageSoFar.js";
import { NO_USAGE, type UsageTotals } from "./usageTally.js";

/** Sends heartbeats from the loop that runs the turn. */
export interface Heartbeat {
  /** Sets the interval, milliseconds, and starts to measure the loop's delay. */
  start(intervalMs: number): void;
  /** Takes in what the turn has used so far, and sends a heartbeat with it at once, between the others: the worker may be gone before the next one. */
  tell(usage: UsageTotals): void;
  /** Sends none for so many milliseconds, so that an owner's watch can be tried. */
  mute(ms: number): void;
  /** Sends no more. */
  stop(): void;
}

/** Grain of the measurement: fine enough to see a blocked loop, coarse enough to cost nothing. */
const DELAY_RESOLUTION_MS = 100;

/** Makes the heartbeat of a session; it beats at `idleMs` until {@link Heartbeat.start} is called. */
export function createHeartbeat(session: Pick<AttachSession, "sendUrgent">, clock: Clock, idleMs: number): Heartbeat {
  let intervalMs = idleMs;
  let cancel: (() => void) | undefined;
  let delays: IntervalHistogram | undefined;
  let mutedUntil = 0;
  let used = NO_USAGE;
  let stopped = false;
  const send = (): void => {
    if (clock.monotonic() >= mutedUntil) {
      const delayMs = delays === undefined || delays.max === 0 ? 0 : delays.max / 1e6 - DELAY_RESOLUTION_MS;
      delays?.reset();
      session.sendUrgent({
        $case: "heartbeat",
        value: {
          loopDelayMs: Number.isFinite(delayMs) ? Math.max(0, Math.round(delayMs)) : 0,
          residentBytes: BigInt(process.memoryUsage.rss()),
          usage: usageSoFar(used),
        },
      });
    }
  };
  const beat = (): void => {
    send();
    arm();
  };
  const arm = (): void => {
    cancel?.();
    cancel = clock.after(intervalMs, beat);
  };
  arm();
  return {
    start(ms) {
      intervalMs = ms;
      delays ??= monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
      delays.enable();
      arm();
    },
    tell(usage) {
      used = usage;
      if (!stopped) send();
    },
    mute(ms) {
      mutedUntil = clock.monotonic() + ms;
    },
    stop() {
      stopped = true;
      cancel?.();
      delays?.disable();
    },
  };
}
