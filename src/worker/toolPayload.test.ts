import fc from "fast-check";
import { expect, test } from "vitest";
import { ToolStarted } from "../gen/talaria/types/v1/event.js";
import { cutToBytes, showArguments, showResult } from "../base/toolPayload.js";

const same = (text: string): string => text;

test("small arguments stay as they are, redacted at every depth", () => {
  const shown = showArguments({ a: [{ b: "the secret" }], n: 1, big: 2n, nan: Number.NaN, gone: undefined }, (text) =>
    text.replace("secret", "***"),
  );
  expect(shown).toEqual({ arguments: { a: [{ b: "the ***" }], n: 1, big: "2", nan: "NaN" }, truncated: false });
});

test("OW48 arguments over 64 KiB keep 64 keys, short values and 32 KiB", () => {
  const given = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`${"k".repeat(300)}${String(i)}`, "é".repeat(9_000)]),
  );
  const numbered = Object.fromEntries(Object.entries(given).map(([key, value], i) => [`${String(i)}${key}`, value]));
  const { arguments: shown, truncated } = showArguments(numbered, same);
  expect(truncated).toBe(true);
  expect(Object.keys(shown).length).toBeLessThanOrEqual(64);
  expect(Object.keys(shown).every((key) => key.length <= 256)).toBe(true);
  expect(Buffer.byteLength(Object.values(shown).join(""))).toBeLessThanOrEqual(32 * 1024);
});

test("anything that JSON can hold can be sent", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 40 })), (given) => {
      const shown = showArguments(given, same);
      expect(() => ToolStarted.encode({ toolCallId: "1", name: "t", ...shown }).finish()).not.toThrow();
    }),
  );
});

test("OW48 a result over 64 KiB keeps its first 32 KiB", () => {
  expect(showResult("x".repeat(65_536), same).truncated).toBe(false);
  const { result, truncated } = showResult("é".repeat(40_000), same);
  expect(truncated).toBe(true);
  expect(Buffer.byteLength(result)).toBe(32 * 1024);
});

test("cutting never splits a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(40), (text, bytes) => {
      const cut = cutToBytes(text, bytes);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(Math.max(bytes, 0));
    }),
  );
});
