import { expect, test } from "vitest";

import { table } from "./table.js";

const head = ["SESSION", "TITLE"];
const rows = [
  ["ses_1", "notes of the day"],
  ["ses_22", ""],
];

test("columns are aligned and lines have no white space at their ends", () => {
  expect(table(head, rows)).toBe("SESSION  TITLE\nses_1    notes of the day\nses_22");
});

test("a table that fits is a table, one that does not is a block a row", () => {
  expect(table(head, rows, 25)).toBe(table(head, rows));
  expect(table(head, rows, 24)).toBe("session  ses_1\ntitle    notes of the day\n\nsession  ses_22");
});

test("without rows the head stands alone, and a person is told that there are none", () => {
  expect(table(head, [])).toBe("SESSION  TITLE");
  expect(table(head, [], 80)).toBe("SESSION  TITLE\n(none)");
  expect(table(head, [], 5)).toBe("(none)");
});

test("a cell is one line that steers nothing", () => {
  expect(table(["WHO"], [["a\nb\u001b[2J\u202ec"]])).toBe("WHO\na b [2J c");
  expect(table(["WHO"], [["a\nb\u001b[2J"]], 2)).toBe("who  a b [2J");
});
