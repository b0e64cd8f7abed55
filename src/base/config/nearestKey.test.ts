import { expect, test } from "vitest";

import { nearestKey } from "./nearestKey.js";

test.each([
  ["nmae", ["name", "node"], "name"],
  ["mian", ["main", "helper"], "main"],
  ["hello", ["hello_ms", "drain_ms"], "hello_ms"],
  ["DRAIN", ["hello_ms", "drain_ms"], "drain_ms"],
  ["stop", ["stop_term_after_ms", "stop_kill_after_ms"], undefined],
  ["x", ["name"], undefined],
  ["", ["_ms"], undefined],
])("%j of %j means %j", (typed, known, meant) => {
  expect(nearestKey(typed, known)).toBe(meant);
});
