import { expect, test } from "vitest";

import { titleIn } from "./sessionTitle.js";

test.each([
  ["A plain title", "A plain title"],
  ['  "In quotes."  ', "In quotes"],
  ["Title: The thing", "The thing"],
  ["**Bold**", "Bold"],
  ["<think>hmm\nhm</think>\n\nThe thing\nmore", "The thing"],
  ["\n\n", ""],
  ["a\u0007b\u0000", "a b\ufffd"],
])("%j is named %j", (text, title) => {
  expect(titleIn(text)).toBe(title);
});

test("a title is bounded", () => {
  expect(titleIn("a".repeat(500))).toHaveLength(80);
});
