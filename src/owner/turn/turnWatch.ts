import type { Clock } from "../../base/clock.js";
import { whenAwake } from "../../base/whenAwake.js";

/** How long a turn may take, and how long it may be silent; 0 = no bound. Milliseconds. */
export interface TurnBounds {
  readonly turnMs: number;
  /** Without an event, outside an open tool call or prompt. */
  readonly idleMs: number;
  /** Without any frame. */
  readonly heartbeatMissedMs: number;
}

/** What a watch says when a bound is passed, and what it asks. */
export interface TurnAlarms {
  readonly turnLimit: () => void;
  readonly idle: () => void;
  readonly heartbeatMissed: () => void;
  /** Whether the turn waits for a tool or a person, which is no idleness. */
  readonly isWaiting: () => boolean;
}

/** Watches a turn from its bootstrap to its result. It looks a few times in each bound instead of setting a timer at every frame. */
export class TurnWatch {
  readonly #clock: Clock;
  readonly #alarms: TurnAlarms;
  readonly #cancels = new Set<() => void>();
  #lastFrame: number;
  #lastProgress: number;

  constructor(clock: Clock, bounds: TurnBounds, alarms: TurnAlarms) {
    this.#clock = clock;
    this.#alarms = alarms;
    this.#lastFrame = clock.monotonic();
    this.#lastProgress = this.#lastFrame;
    if (bounds.turnMs > 0) this.#cancels.add(clock.after(bounds.turnMs, alarms.turnLimit));
    this.#look(bounds.heartbeatMissedMs, () => this.#lastFrame, this.#alarms.heartbeatMissed);
    if (bounds.idleMs > 0) this.#look(bounds.idleMs, () => this.#idleSince(), this.#alarms.idle);
  }

  /** Notes a frame of any kind. */
  frame(): void {
    this.#lastFrame = this.#clock.monotonic();
  }

  /** Notes that the turn has got on. */
  progress(): void {
    this.#lastProgress = this.#clock.monotonic();
  }

  /** Ends the watch. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels.clear();
  }

  #idleSince(): number {
    if (this.#alarms.isWaiting()) this.progress();
    return this.#lastProgress;
  }

  #look(bound: number, since: () => number, alarm: () => void): void {
    const again = (wait: number): void => {
      const look = (): void => {
        this.#cancels.delete(cancel);
        const left = since() + bound - this.#clock.monotonic();
        if (left <= 0) alarm();
        else again(left);
      };
      const cancel = whenAwake(this.#clock, wait, look, bound);
      this.#cancels.add(cancel);
    };
    again(bound);
  }
}
