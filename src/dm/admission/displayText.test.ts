import fc from "fast-check";
import { expect, test } from "vitest";

import { countCodePoints, toWellFormed } from "../../base/codePoints.js";
import { displayText } from "./displayText.js";

test("a name from elsewhere fits on one line and within its limit", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      const shown = displayText(text, 50);
      expect(countCodePoints(shown)).toBeLessThanOrEqual(50);
      expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u);
      expect(toWellFormed(shown)).toBe(shown);
    }),
  );
});

test("joined emoji stay joined", () => {
  expect(displayText(" 👩‍💻\n\u202eevil\u0000 ", 50)).toBe("👩‍💻evil");
});
