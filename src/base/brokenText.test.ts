import { expect, test } from "vitest";

import { replaceBroken, withoutUnseen } from "./brokenText.js";

test.each([
  ["by a line break", "a correct\nhorse z", "a [x] z"],
  ["by a carriage return and a line break", "a correct\r\nhorse z", "a [x] z"],
  ["by a colour", "a cor\u001b[1;31mrect\u001b[0mhorse z", "a [x] z"],
  ["by a link", "a cor\u001b]8;;http://x\u0007recthorse z", "a [x] z"],
  ["by a lone escape", "a cor\u001brecthorse z", "a [x] z"],
  ["by a zero-width space", "a cor\u200brecthorse z", "a [x] z"],
  ["by escapes as JSON has them", String.raw`a cor\u001b[31mrect\nho\u200brse z`, "a [x] z"],
  ["twice", "correct\nhorse and correcthorse, cor\nrecthorse", "[x] and [x], [x]"],
])("replaces what is broken %s", (_how, text, expected) => {
  expect(replaceBroken(text, ["correcthorse", "horse"], "[x]")).toBe(expected);
});

test("leaves alone what is not there, with all that breaks it", () => {
  const text = "one\n\u001b[31mtwo\u200b\u001b[0m\r\nthree";
  expect(replaceBroken(text, ["twofour"], "[x]")).toBe(text);
  expect(withoutUnseen(text)).toBe("one\ntwo\nthree");
});
