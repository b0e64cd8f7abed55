import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { directiveTable, replaceDirectiveTable } from "./directiveTable.js";

test("the table of directives in the documentation is the one in the code", () => {
  const page = readFileSync("docs/echo.md", "utf8");
  expect(replaceDirectiveTable(page, directiveTable())).toBe(page);
});
