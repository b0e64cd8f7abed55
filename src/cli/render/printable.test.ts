import { expect, test } from "vitest";

import { printable } from "./printable.js";

test("what steers a terminal or hides text is shown as a question mark; lines, tabs and other scripts stay", () => {
  expect(printable("a\tb\nc")).toBe("a\tb\nc");
  expect(printable("grüße, 日本, 🎈, שלום")).toBe("grüße, 日本, 🎈, שלום");
  expect(printable("rm x\r\u001b[2Kls")).toBe("rm x??[2Kls");
  expect(printable("\u001b]52;c;aGk=\u0007\u009b31m\u202etxt")).toBe("?]52;c;aGk=??31m?txt");
  expect(printable("a\u2028b\u061cc")).toBe("a?b?c");
});
