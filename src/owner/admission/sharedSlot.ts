import type { Slot } from "./slotScheduler.js";

/** What a turn may wait for without working. */
export type WaitsFor = "people" | "children";

/** A turn's part of a slot. */
export interface SlotMember {
  /** Says whether the turn waits for someone. A turn that waits for nobody works. */
  waits(cause: WaitsFor, waiting: boolean): void;
  /** Takes a child turn in, which works from here on. */
  child(): SlotMember;
  /** Says that the turn is over. Later calls do nothing. */
  leave(): void;
}

/**
 * One slot that a turn shares with its child turns: it counts while any of them works, and is given up while all of them wait.
 * A child never needs a slot that its parent holds. Source: DESIGN section 6.
 */
export function shareSlot(slot: Slot): SlotMember {
  let working = 0;
  const changed = (by: 1 | -1): void => {
    working += by;
    if (by === -1 && working === 0) slot.yield();
    if (by === 1 && working === 1) slot.resume();
  };
  const join = (): SlotMember => {
    const waiting = new Set<WaitsFor>();
    let works = true;
    let over = false;
    const look = (): void => {
      const worksNow = !over && waiting.size === 0;
      if (worksNow === works) return;
      works = worksNow;
      changed(works ? 1 : -1);
    };
    changed(1);
    return {
      waits(cause, isWaiting) {
        if (isWaiting) waiting.add(cause);
        else waiting.delete(cause);
        look();
      },
      child: join,
      leave() {
        over = true;
        look();
      },
    };
  };
  return join();
}
