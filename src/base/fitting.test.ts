import { expect, test } from "vitest";
import { fitting } from "./fitting.js";

const bytes = (text: string): number => Buffer.byteLength(text);
const KIB = 1_024;

test("rows are taken in order as long as they fit, and what is behind one that does not is left out", () => {
  const rows = ["a".repeat(KIB), "b".repeat(3 * KIB), "c"];
  expect(fitting(rows, bytes, 1_000_000)).toEqual(rows);
  expect(fitting(rows, bytes, 6 * KIB)).toEqual(rows.slice(0, 2));
  expect(fitting(rows, bytes, 6 * KIB - 1)).toEqual(rows.slice(0, 1));
  expect(fitting(rows, bytes, 2 * KIB - 1)).toEqual([]);
  expect(fitting([], bytes, 0)).toEqual([]);
});

test("rows without texts are bounded too", () => {
  expect(
    fitting(
      Array.from({ length: 100 }, () => ""),
      bytes,
      10 * KIB,
    ),
  ).toHaveLength(10);
});
