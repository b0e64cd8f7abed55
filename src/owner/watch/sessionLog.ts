import type { SessionUpdate } from "../../gen/talaria/gateway/v1/turn_service.js";

/** The last changes of one session, for viewers that come back. A turn's streamed events go when it has ended. */
export class SessionLog {
  readonly #keep: number;
  #updates: SessionUpdate[] = [];
  #next = 1n;
  #lostUpTo = 0n;

  /** @param keep most changes kept. */
  constructor(keep: number) {
    this.#keep = keep;
  }

  /** Number that the next change gets, from 1. */
  get nextSequence(): bigint {
    return this.#next;
  }

  /** Number of the oldest change kept, or undefined where none is. */
  get oldest(): bigint | undefined {
    return this.#updates[0]?.cursor?.sequence;
  }

  /** Keeps a change; its number must be {@link nextSequence}. */
  add(update: SessionUpdate): void {
    this.#updates.push(update);
    this.#next += 1n;
    if (update.update?.$case === "turnEnded") this.#forgetEvents();
    // Cut in steps, so that each change costs the same.
    if (this.#updates.length > this.#keep * 1.25) this.#cut(this.#updates.length - this.#keep);
  }

  /** The changes after a number, or undefined where some of them are no longer kept. */
  after(sequence: bigint): readonly SessionUpdate[] | undefined {
    if (sequence < this.#lostUpTo || sequence >= this.#next) return undefined;
    return this.#updates.filter((update) => (update.cursor?.sequence ?? 0n) > sequence);
  }

  #forgetEvents(): void {
    const lastEvents = this.#updates.findLast((update) => update.update?.$case === "events");
    if (lastEvents === undefined) return;
    this.#lostUpTo = lastEvents.cursor?.sequence ?? this.#lostUpTo;
    this.#updates = this.#updates.filter((update) => update.update?.$case !== "events");
  }

  #cut(count: number): void {
    const removed = this.#updates.splice(0, count);
    const last = removed.at(-1)?.cursor?.sequence ?? 0n;
    if (last > this.#lostUpTo) this.#lostUpTo = last;
  }
}
