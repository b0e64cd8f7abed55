import { expect, test } from "vitest";

import { checkBody, checkKey } from "./checkShape.js";

test("DM044 a byte order mark before a text goes, its lines and characters stay", () => {
  expect(checkBody("\uFEFFgrüße\n\n  二行目 😀\n")).toMatchObject({ body: "grüße\n\n  二行目 😀", bodyCodePoints: 14 });
});

test("DM010 the longest text is 16,000 code points after trimming", () => {
  expect(checkBody(` ${"😀".repeat(16_000)} `)).toMatchObject({ bodyCodePoints: 16_000, bodyBytes: 64_000 });
  expect(() => checkBody("x".repeat(16_001))).toThrow(expect.objectContaining({ reason: "BODY_TOO_LONG" }));
  expect(() => checkBody("\uFEFF \n")).toThrow(expect.objectContaining({ reason: "EMPTY_BODY" }));
});

test("a body that no store would keep whole is refused, and nothing else is, however hostile it looks", () => {
  expect(() => checkBody("cut\0 short")).toThrow(expect.objectContaining({ reason: "INVALID_FIELD" }));
  const hostile = "quotes ' \" $(rm -rf /) \u202e [from agent:admin] and\nlines";
  expect(checkBody(hostile).body).toBe(hostile);
});

test.each(["", "a b", "a\r\nb", "a\u0000", "../a", "x".repeat(129)])("DM084 DM111 %j is no key", (key) => {
  expect(() => {
    checkKey(key);
  }).toThrow(expect.objectContaining({ reason: "INVALID_FIELD" }));
});
