import { expect, test } from "vitest";
import { isId } from "../../base/ids.js";
import { ORDERED_ID_BYTES, orderedId } from "./orderedId.js";

const low = new Uint8Array(ORDERED_ID_BYTES);
const high = new Uint8Array(ORDERED_ID_BYTES).fill(31);

test("an ordered id has the form of every other one", () => {
  for (const at of [0, 1_800_000_000_000, 2 ** 50 - 1]) expect(isId("del", orderedId("del", at, high))).toBe(true);
});

test("ids are ordered by their times, whatever tells ids of one time apart", () => {
  const times = [0, 31, 32, 1_023, 1_024, 1_799_999_999_999, 1_800_000_000_000, 2 ** 50 - 1];
  const ids = times.flatMap((at) => [orderedId("inp", at, low), orderedId("inp", at, high)]);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});
