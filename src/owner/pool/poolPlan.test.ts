import fc from "fast-check";
import { expect, test } from "vitest";
import { poolPlan } from "./poolPlan.js";

test.each([
  [[], [], [], undefined],
  [[], ["a"], [], 0],
  [["a"], ["a"], [], undefined],
  [["a"], ["b"], [0], 0],
  [["a"], [], [0], undefined],
  [["a"], ["a", "a"], [], 0],
  [["a", "b"], ["b", "c"], [0], 1],
  [["b", "a", "a"], ["a"], [0, 2], undefined],
])("waiting %j, wanted %j", (waiting, wanted, surplus, missing) => {
  expect(poolPlan(waiting, wanted)).toEqual({ surplus, missing });
});

test("following the plan always ends with just what is wanted", () => {
  const keys = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 6 });
  fc.assert(
    fc.property(keys, keys, (waiting, wanted) => {
      let have: readonly string[] = waiting;
      for (let step = 0; step <= wanted.length; step++) {
        const { surplus, missing } = poolPlan(have, wanted);
        have = have.filter((_, position) => !surplus.includes(position));
        if (missing === undefined) break;
        have = [...have, wanted[missing] ?? ""];
      }
      expect([...have].sort()).toEqual([...wanted].sort());
    }),
  );
});
