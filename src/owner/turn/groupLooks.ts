import type { Clock } from "../../base/clock.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { Launch } from "../launch/launch.js";
import { overMemory } from "./overMemory.js";

/** Looks at a worker's process group when its heartbeats come, no more often than is of use: a look reads the whole process table. */
export class GroupLooks {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #claimed: Pick<ClaimedInput, "policy">;
  #next = Number.NEGATIVE_INFINITY;

  /** @param everyMs shortest time between two looks, milliseconds; shorter than the interval of heartbeats */
  constructor(clock: Clock, everyMs: number, claimed: Pick<ClaimedInput, "policy">) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#claimed = claimed;
  }

  /** Notes who is in the group, where it is time. @returns whether the group holds more memory than its agent may. */
  look(launch: Launch | undefined): boolean {
    const now = this.#clock.monotonic();
    if (launch === undefined || now < this.#next) return false;
    this.#next = now + this.#everyMs;
    launch.group.note();
    return overMemory(this.#claimed, launch);
  }
}
