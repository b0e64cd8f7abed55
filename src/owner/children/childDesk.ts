import { createDeferred, type Deferred } from "../../base/deferred.js";
import type { Logger } from "../../base/logger.js";
import type { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import { cancelInput } from "../../store/turns/cancelInput.js";
import type { SlotMember } from "../admission/sharedSlot.js";
import { persistently } from "../turn/persistently.js";
import type { TurnParts } from "../turn/turnParts.js";

/** A running turn, as far as its parent steers it. */
export interface RunningChild {
  stop(cause: StopCause): unknown;
}

/** Runs a session's next input in a slot; `begun` is told of the turn once there is one. Resolves when nothing of it is left. */
export type RunTurn = (sessionId: string, slot: SlotMember, begun: (turn: RunningChild) => void) => Promise<unknown>;

/** Where a child turn is. */
export interface ChildPlace {
  readonly sessionId: string;
  readonly inputId: string;
}

/** What a desk works with. */
export interface ChildDeskParts extends Pick<TurnParts, "store" | "clock" | "listeners"> {
  readonly log: Logger;
  /** The parent's. */
  readonly slot: SlotMember;
  readonly runTurn: RunTurn;
}

interface Child extends ChildPlace {
  readonly over: Deferred<void>;
}

/**
 * The child turns of one execution. They run one at a time, in the order in which they were given, in their parent's slot, and
 * none outlives it: once the desk is closed, the one that runs is stopped and the others are withdrawn.
 */
export class ChildDesk {
  readonly #parts: ChildDeskParts;
  readonly #children = new Map<string, Child>();
  readonly #waiting: Child[] = [];
  #running: { turn?: RunningChild } | undefined;
  #closedFor: StopCause | undefined;
  #idle = Promise.resolve();

  constructor(parts: ChildDeskParts) {
    this.#parts = parts;
  }

  /** Children that have not ended. */
  get openCount(): number {
    return this.#waiting.length + (this.#running === undefined ? 0 : 1);
  }

  /** Whether no child is taken any more. */
  get closed(): boolean {
    return this.#closedFor !== undefined;
  }

  /**
   * Takes a child that is on disk; one that was taken before stays as it is.
   * @returns resolves when it has ended. Its outcome is in the store.
   */
  take(place: ChildPlace): Promise<void> {
    const known = this.#children.get(place.inputId);
    if (known !== undefined) return known.over.promise;
    const child: Child = { ...place, over: createDeferred() };
    this.#children.set(place.inputId, child);
    if (this.closed) void this.#withdraw(child);
    else {
      this.#waiting.push(child);
      if (this.#running === undefined) this.#idle = this.#runAll();
    }
    return child.over.promise;
  }

  /** Takes no more children, withdraws those that wait and stops the one that runs. Later calls do nothing. */
  close(cause: StopCause): void {
    if (this.closed) return;
    this.#closedFor = cause;
    for (const child of this.#waiting.splice(0)) void this.#withdraw(child);
    this.#running?.turn?.stop(cause);
  }

  /** Resolves when no child runs. */
  async retired(): Promise<void> {
    await this.#idle;
  }

  async #runAll(): Promise<void> {
    const { slot } = this.#parts;
    let child = this.#waiting.shift();
    // The child is in the slot before its parent lets go of it, and the next one before the last has left: nobody else gets in.
    let member = slot.child();
    slot.waits("children", true);
    while (child !== undefined) {
      await this.#run(child, member);
      const next = this.#waiting.shift();
      const left = member;
      if (next !== undefined) member = slot.child();
      else {
        this.#running = undefined;
        slot.waits("children", false);
      }
      left.leave();
      child = next;
    }
  }

  async #run(child: Child, member: SlotMember): Promise<void> {
    const running: { turn?: RunningChild } = {};
    this.#running = running;
    try {
      await this.#parts.runTurn(child.sessionId, member, (turn) => {
        running.turn = turn;
        if (this.#closedFor !== undefined) turn.stop(this.#closedFor);
      });
    } catch (error) {
      this.#parts.log.error({ err: error, session: child.sessionId }, "a child turn could not be run");
    }
    child.over.resolve();
  }

  async #withdraw(child: Child): Promise<void> {
    const { store, clock, log, listeners } = this.#parts;
    try {
      const cancelled = await persistently(clock, log, () =>
        store.writer.execute(cancelInput, { inputId: child.inputId, now: clock.now() }),
      );
      if (cancelled.kind === "cancelled") listeners.effects(cancelled.effects);
    } catch (error) {
      log.error({ err: error, session: child.sessionId }, "a child turn could not be withdrawn; the next start will");
    }
    child.over.resolve();
  }
}
