import { expect, test } from "vitest";

import { expiryHere } from "./expiryHere.js";

const DAY = 24 * 60 * 60_000;

test.each([
  ["the clocks agree", 0, 100],
  ["the message took half a minute", 30_000, 100],
  ["this clock is a day ahead", DAY, 100 + DAY],
  ["this clock is a day behind", -DAY, 100 - DAY],
  ["this clock is more than a day ahead", 3 * DAY, 100 + DAY],
])("where %s", (_what, ahead, expected) => {
  expect(expiryHere(100, 10 * DAY, 10 * DAY + ahead)).toBe(expected);
});

test("a sender that does not tell its time is taken at its word", () => {
  expect(expiryHere(100, undefined, 5 * DAY)).toBe(100);
});
