import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { directiveTable, replaceDirectiveTable } from "./directiveTable.js";

test("the README's table of directives is the one in the code", () => {
  const readme = readFileSync("README.md", "utf8");
  expect(replaceDirectiveTable(readme, directiveTable())).toBe(readme);
});
