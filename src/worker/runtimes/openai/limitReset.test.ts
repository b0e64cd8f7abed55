import { expect, test } from "vitest";

import { limitResetMs } from "./limitReset.js";

const NOW = 1_780_000_000_000;

test.each<[string, Record<string, string>, string, number | undefined]>([
  ["nothing", {}, "", undefined],
  ["milliseconds", { "retry-after-ms": "1500" }, "", 1_500],
  ["seconds", { "retry-after": "20" }, "", 20_000],
  ["a date", { "retry-after": new Date(NOW + 60_000).toUTCString() }, "", 60_000],
  ["a date that has passed", { "retry-after": new Date(NOW - 60_000).toUTCString() }, "", 0],
  [
    "the limit that has run out",
    { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0.5s" },
    "",
    360_500,
  ],
  [
    "the later of two",
    {
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "20ms",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "1h",
    },
    "",
    3_600_000,
  ],
  [
    "not one that has some left",
    { "x-ratelimit-remaining-tokens": "10", "x-ratelimit-reset-tokens": "6m0s" },
    "",
    undefined,
  ],
  ["a moment in seconds", { "x-ratelimit-reset": String(NOW / 1_000 + 30) }, "", 30_000],
  ["a moment in milliseconds", { "x-ratelimit-reset": String(NOW + 30_000) }, "", 30_000],
  ["words", {}, "Rate limit reached. Please try again in 1m2s. Visit our page.", 62_000],
  ["a header before words", { "retry-after": "1" }, "try again in 5s", 1_000],
  ["words that mean nothing", { "retry-after": "soon" }, "try again in a while", undefined],
  ["a wait that nobody believes", { "retry-after": "999999999" }, "", undefined],
])("%s", (_, headers, text, ms) => {
  expect(limitResetMs(headers, text, NOW)).toBe(ms);
});
