import type { SessionUpdate } from "../../gen/talaria/gateway/v1/turn_service.js";
import { updateWeight } from "./updateWeight.js";

/** Most that is kept of one session, UTF-16 units: a turn that floods must not fill the gateway's memory. */
const MAX_WEIGHT = 4_194_304;

interface Kept {
  readonly update: SessionUpdate;
  readonly weight: number;
}

/** The last changes of one session, for viewers that come back. A turn's streamed events go when it has ended. */
export class SessionLog {
  readonly #keep: number;
  #kept: Kept[] = [];
  #weight = 0;
  #next: bigint;
  #lostUpTo: bigint;

  /**
   * @param keep most changes kept.
   * @param lostUpTo number of the last change that is known to be lost; the next one is one more.
   */
  constructor(keep: number, lostUpTo = 0n) {
    this.#keep = keep;
    this.#lostUpTo = lostUpTo;
    this.#next = lostUpTo + 1n;
  }

  /** Number that the next change gets. */
  get nextSequence(): bigint {
    return this.#next;
  }

  /** Number of the oldest change kept, or undefined where none is. */
  get oldest(): bigint | undefined {
    return this.#kept[0]?.update.cursor?.sequence;
  }

  /** Keeps a change; its number must be {@link nextSequence}. */
  add(update: SessionUpdate): void {
    const weight = updateWeight(update);
    this.#kept.push({ update, weight });
    this.#weight += weight;
    this.#next += 1n;
    if (update.update?.$case === "turnEnded") this.#forgetEvents();
    // Cut in steps, so that each change costs the same.
    if (this.#kept.length > this.#keep * 1.25 || this.#weight > MAX_WEIGHT * 1.25) this.#cut();
  }

  /** The changes after a number, or undefined where some of them are no longer kept. */
  after(sequence: bigint): readonly SessionUpdate[] | undefined {
    if (sequence < this.#lostUpTo || sequence >= this.#next) return undefined;
    return this.#kept.map(({ update }) => update).filter((update) => (update.cursor?.sequence ?? 0n) > sequence);
  }

  #forgetEvents(): void {
    const isEvents = ({ update }: Kept): boolean => update.update?.$case === "events";
    const last = this.#kept.findLast(isEvents);
    if (last === undefined) return;
    this.#lostUpTo = last.update.cursor?.sequence ?? this.#lostUpTo;
    this.#kept = this.#kept.filter((one) => !isEvents(one));
    this.#weight = this.#kept.reduce((sum, { weight }) => sum + weight, 0);
  }

  #cut(): void {
    let count = Math.max(0, this.#kept.length - this.#keep);
    for (const { weight } of this.#kept.slice(0, count)) this.#weight -= weight;
    for (; this.#weight > MAX_WEIGHT; count += 1) this.#weight -= this.#kept[count]?.weight ?? this.#weight;
    const last = this.#kept.splice(0, count).at(-1)?.update.cursor?.sequence ?? 0n;
    if (last > this.#lostUpTo) this.#lostUpTo = last;
  }
}
