import fc from "fast-check";
import { expect, test } from "vitest";

import type { DigestPart } from "./digest.js";
import { digestOf } from "./digest.js";

const part: fc.Arbitrary<DigestPart> = fc.oneof(
  fc.string(),
  fc.constant(undefined),
  fc.integer(),
  fc.boolean(),
  fc.uint8Array({ maxLength: 8 }),
);

test("two lists of parts have the same digest exactly if they are the same", () => {
  const shown = (parts: readonly DigestPart[]): string =>
    JSON.stringify(
      parts.map((one) =>
        one instanceof Uint8Array ? ["b", ...one] : [typeof one, one === undefined ? "" : String(one)],
      ),
    );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), fc.array(part, { maxLength: 4 }), (a, b) => {
      expect(digestOf(a) === digestOf(b)).toBe(shown(a) === shown(b));
    }),
  );
});

test("boundaries and absence count", () => {
  const all = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["abc", undefined], ["1"], [1], [true], ["true"]];
  expect(new Set(all.map((parts) => digestOf(parts))).size).toBe(all.length);
  expect(digestOf([])).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});

test("a digest stays what it was: stores keep them", () => {
  const parts = ["agent:ada", "grüße 😀", 7, true, undefined, Uint8Array.of(1, 2, 3)];
  expect(digestOf(parts)).toBe("1155b1266fc950dd655565cd04495ad44de477c31d185585ddc2882cbb1931ca");
});
