import type { Clock } from "../../base/clock.js";
import type { InputRow } from "../../store/turns/inputRow.js";
import type { ExecutionPhase } from "../phase/executionPhase.js";

/**
 * What a turn's time goes to, in order: `queued` waiting in its session's lane, `launch` until its worker is proved, `adopt` until it has
 * its assignment and runtime, `running` until its result or loss, `settle` until nothing of it is left and its session is free.
 */
export const TIMED_PHASES = ["queued", "launch", "adopt", "running", "settle"] as const;

/** One of {@link TIMED_PHASES}. */
export type TimedPhase = (typeof TIMED_PHASES)[number];

/** How long a turn was in each phase that it came to, milliseconds. */
export type TurnTimes = ReadonlyMap<TimedPhase, number>;

const TIMED_AS: Readonly<Record<ExecutionPhase, TimedPhase>> = {
  spawned: "launch",
  proved: "adopt",
  exercised: "adopt",
  bootstrapped: "adopt",
  adopted: "adopt",
  running: "running",
  result: "settle",
  finishing: "settle",
  finished: "settle",
  interrupted: "settle",
  lost: "settle",
  retired: "settle",
};

/** Measures where a turn's time goes, from its claim on. A turn that gets another worker is in `launch` twice; both count. */
export class PhaseTimes {
  readonly #clock: Clock;
  readonly #times: Map<TimedPhase, number>;
  #phase: TimedPhase = "launch";
  #since: number;

  /** @param input when the turn's input was queued and started, epoch milliseconds. */
  constructor(
    clock: Clock,
    { queued_at: queuedAt, started_at: startedAt }: Pick<InputRow, "queued_at" | "started_at">,
  ) {
    this.#clock = clock;
    this.#times = new Map([["queued", Math.max(0, (startedAt ?? queuedAt) - queuedAt)]]);
    this.#since = clock.monotonic();
  }

  /** Notes that the turn is in a phase from here on. */
  enter(phase: ExecutionPhase): void {
    const next = TIMED_AS[phase];
    if (next === this.#phase) return;
    this.#add();
    this.#phase = next;
  }

  /** The times of a turn of which nothing is left. */
  end(): TurnTimes {
    this.#add();
    return this.#times;
  }

  #add(): void {
    const now = this.#clock.monotonic();
    this.#times.set(this.#phase, (this.#times.get(this.#phase) ?? 0) + now - this.#since);
    this.#since = now;
  }
}
