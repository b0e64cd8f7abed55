import { createDeferred, type Deferred } from "../../base/deferred.js";
import type { SessionUpdate } from "../../gen/talaria/gateway/v1/turn_service.js";
import { joinEvents } from "./joinEvents.js";
import { updateWeight } from "./updateWeight.js";

/** Most updates that may wait for a viewer before it is told of a gap. */
const MAX_WAITING = 1_000;
/** Most that may wait for a viewer in all, UTF-16 units. */
const MAX_WAITING_WEIGHT = 1_048_576;

/** What a viewer takes next: an update, or the word that it was too slow and needs a snapshot. */
export type WatcherStep = { readonly kind: "update"; readonly update: SessionUpdate } | { readonly kind: "overrun" };

/**
 * One viewer of a session. It gathers while the viewer is behind, joining text, up to a bound; past it what waits is
 * dropped and the viewer gets a gap, so that a slow viewer costs nobody else anything.
 */
export class Watcher {
  /** Whether the viewer may answer prompts. */
  readonly answersPrompts: boolean;
  #waiting: SessionUpdate[] = [];
  #waitingWeight = 0;
  #overrun = false;
  #ended = false;
  #wake: Deferred<void> | undefined;

  constructor(answersPrompts: boolean) {
    this.answersPrompts = answersPrompts;
  }

  /** Gives the viewer an update. */
  push(update: SessionUpdate): void {
    if (this.#ended || this.#overrun) return;
    const { update: change } = update;
    const last = this.#waiting.at(-1);
    this.#waitingWeight += updateWeight(update);
    if (
      change?.$case === "events" &&
      last?.update?.$case === "events" &&
      last.update.value.executionId === change.value.executionId
    ) {
      const events = [...last.update.value.events];
      joinEvents(events, change.value.events);
      this.#waiting[this.#waiting.length - 1] = {
        ...update,
        update: { $case: "events", value: { executionId: change.value.executionId, events } },
      };
    } else {
      this.#waiting.push(update);
    }
    this.#check();
  }

  /** Ends the watch; what waits is still given out. */
  end(): void {
    this.#ended = true;
    this.#wake?.resolve();
  }

  /** The next step, or undefined once the watch has ended. Rejects when the signal aborts. */
  async next(signal: AbortSignal): Promise<WatcherStep | undefined> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#overrun) {
        this.#overrun = false;
        return { kind: "overrun" };
      }
      const update = this.#waiting.shift();
      if (update !== undefined) {
        if (this.#waiting.length === 0) this.#waitingWeight = 0;
        return { kind: "update", update };
      }
      if (this.#ended) return undefined;
      await this.#sleep(signal);
    }
  }

  async #sleep(signal: AbortSignal): Promise<void> {
    const wake = createDeferred<void>();
    this.#wake = wake;
    const stop = (): void => {
      wake.resolve();
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      await wake.promise;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #check(): void {
    if (this.#waiting.length > MAX_WAITING || this.#waitingWeight > MAX_WAITING_WEIGHT) {
      this.#waiting = [];
      this.#waitingWeight = 0;
      this.#overrun = true;
    }
    this.#wake?.resolve();
  }
}
