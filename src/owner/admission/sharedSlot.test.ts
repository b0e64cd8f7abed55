import fc from "fast-check";
import { expect, test } from "vitest";

import { type SlotMember, shareSlot, type WaitsFor } from "./sharedSlot.js";

/** A slot that notes whether it counts, as a scheduler would. */
function notedSlot() {
  const seen = { counts: true, changes: 0 };
  const set = (counts: boolean) => (): void => {
    if (seen.counts !== counts) seen.changes += 1;
    seen.counts = counts;
  };
  return { seen, slot: { yield: set(false), resume: set(true) } };
}

test("a child works in its parent's slot, which never lapses between them", () => {
  const { seen, slot } = notedSlot();
  const parent = shareSlot(slot);
  const first = parent.child();
  parent.waits("children", true);
  const second = parent.child();
  first.leave();
  parent.waits("children", false);
  second.leave();
  expect(seen).toEqual({ counts: true, changes: 0 });
  parent.leave();
  expect(seen).toEqual({ counts: false, changes: 1 });
});

test("the slot is given up while parent and child both wait", () => {
  const { seen, slot } = notedSlot();
  const parent = shareSlot(slot);
  const child = parent.child();
  parent.waits("children", true);
  child.waits("people", true);
  expect(seen.counts).toBe(false);
  child.waits("people", false);
  expect(seen.counts).toBe(true);
  child.waits("people", true);
  parent.waits("people", true);
  parent.waits("children", false);
  expect(seen.counts).toBe(false);
  parent.waits("people", false);
  expect(seen.counts).toBe(true);
});

test("in any order the slot counts exactly while one of the turns works, and at the end it is free", () => {
  interface Modelled {
    readonly member: SlotMember;
    readonly waiting: Set<WaitsFor>;
    over: boolean;
  }
  const step = fc.record({
    who: fc.nat(7),
    what: fc.constantFrom("wait people", "go people", "wait children", "go children", "child", "leave"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const { seen, slot } = notedSlot();
      const turns: Modelled[] = [{ member: shareSlot(slot), waiting: new Set(), over: false }];
      const expected = (): boolean => turns.some(({ waiting, over }) => !over && waiting.size === 0);
      for (const { who, what } of steps) {
        const turn = turns[who % turns.length];
        if (turn === undefined) continue;
        if (what === "child") turns.push({ member: turn.member.child(), waiting: new Set(), over: false });
        else if (what === "leave") {
          turn.member.leave();
          turn.over = true;
        } else {
          const [kind, cause] = what.split(" ") as ["wait" | "go", WaitsFor];
          turn.member.waits(cause, kind === "wait");
          if (kind === "wait") turn.waiting.add(cause);
          else turn.waiting.delete(cause);
        }
        expect(seen.counts).toBe(expected());
      }
      for (const { member } of turns) member.leave();
      expect(seen.counts).toBe(false);
    }),
  );
});
