import fc from "fast-check";
import { expect, test } from "vitest";

import { BoundedLines } from "./boundedLines.js";

test("lines come out whole however they were cut, and nothing does once one is too long", () => {
  const word = fc.constantFrom("a", "bc\n", "\n", "ü");
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 9 })), (pieces) => {
      const whole = pieces.flat().join("");
      const lines = new BoundedLines(8);
      const given = pieces.flatMap((piece) => [...lines.take(Buffer.from(piece.join("")))]).map(String);
      const expected = whole.split(/(?<=\n)/);
      const long = expected.findIndex((line) => Buffer.byteLength(line) > 8);
      expect(lines.tooLong).toBe(long >= 0);
      expect(given).toEqual((long < 0 ? expected : expected.slice(0, long)).filter((line) => line.endsWith("\n")));
    }),
  );
});
