import { expect, test } from "vitest";

import { nameOfUtcDay, startOfUtcDay, utcDay, utcDayNamed } from "./utcDay.js";

test.each([
  ["1970-01-01", 0],
  ["1969-12-31", -1],
  ["2024-02-29", 19_782],
])("%s is day %d", (name, day) => {
  expect(nameOfUtcDay(day)).toBe(name);
  expect(utcDayNamed(name)).toBe(day);
});

test("a day begins at midnight and ends right before the next one", () => {
  const day = utcDay(Date.UTC(2026, 0, 2, 12));
  expect(startOfUtcDay(day)).toBe(Date.UTC(2026, 0, 2));
  expect(utcDay(startOfUtcDay(day) - 1)).toBe(day - 1);
  expect(utcDay(startOfUtcDay(day + 1) - 1)).toBe(day);
});

test.each(["", "today", "2026-1-2", "2026-02-30", "2026-13-01", "2026-01-02T00:00"])("%j names no day", (name) => {
  expect(utcDayNamed(name)).toBeUndefined();
});
