import fc from "fast-check";
import { expect, test } from "vitest";

import { countCodePoints, cutToCodePoints, exceedsCodePoints, toWellFormed, trimToCodePoints } from "./codePoints.js";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom("a", "\ud83d", "\ude00", "😀", "é", "\u0000")).map((parts) => parts.join("")),
);

test("counting, cutting and exceeding agree with the language's own iteration", () => {
  fc.assert(
    fc.property(anyText, fc.nat(12), (text, limit) => {
      const points = Array.from(text);
      expect(countCodePoints(text)).toBe(points.length);
      expect(exceedsCodePoints(text, limit)).toBe(points.length > limit);
      expect(cutToCodePoints(text, limit)).toBe(points.slice(0, limit).join(""));
    }),
  );
});

test("a mark counts in the limit and a pair is never split", () => {
  expect(cutToCodePoints("😀😀😀", 2, "…")).toBe("😀…");
  expect(cutToCodePoints("😀😀", 2, "…")).toBe("😀😀");
  expect(trimToCodePoints("  ab cd \n", 3)).toBe("ab ");
});

test("well-formed text survives UTF-8", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const clean = toWellFormed(text);
      expect(Buffer.from(clean, "utf8").toString("utf8")).toBe(clean);
      expect(countCodePoints(clean)).toBe(countCodePoints(text));
      expect(clean).not.toContain("\0");
    }),
  );
});
