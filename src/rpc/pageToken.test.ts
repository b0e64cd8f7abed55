import { expect, test } from "vitest";

import { createPageTokens, cutPage } from "./pageToken.js";

const tokens = createPageTokens(Buffer.alloc(32, 1));
const invalid = expect.objectContaining({ reason: "INVALID_PAGE_TOKEN" }) as Error;

test("a token brings back its place", () => {
  expect(tokens.read(["sessions", "main"], tokens.make(["sessions", "main"], [17, "ses_1"]))).toEqual([17, "ses_1"]);
});

test("no token is the first page", () => {
  expect(tokens.read(["sessions"], "")).toBeUndefined();
});

test("a token serves for its list and filter only", () => {
  const token = tokens.make(["sessions", "main"], [17, "ses_1"]);
  expect(() => tokens.read(["sessions", "other"], token)).toThrow(invalid);
});

test("a token of another home is refused", () => {
  const token = createPageTokens(Buffer.alloc(32, 2)).make(["sessions"], [1]);
  expect(() => tokens.read(["sessions"], token)).toThrow(invalid);
});

test.each(["x", "AAAA", "not a token!", Buffer.from("[1]").toString("base64url")])("%j is refused", (token) => {
  expect(() => tokens.read(["sessions"], token)).toThrow(invalid);
});

test("a page ends where there is no further row", () => {
  expect(cutPage([1, 2, 3], 2)).toEqual({ page: [1, 2], last: 2 });
  expect(cutPage([1, 2], 2)).toEqual({ page: [1, 2] });
});

test("a page of long rows holds as many as one message carries, at least one", () => {
  const rows = [1, 3, 1, 1];
  const mib = (size: number): number => size * 2 ** 19;
  expect(cutPage(rows, 3, mib)).toEqual({ page: [1], last: 1 });
  expect(cutPage(rows.slice(1), 2, mib)).toEqual({ page: [3], last: 3 });
  expect(cutPage(rows.slice(2), 1, mib)).toEqual({ page: [1], last: 1 });
  expect(cutPage(rows.slice(2), 2, mib)).toEqual({ page: [1, 1] });
  expect(cutPage([9], 2, mib)).toEqual({ page: [9] });
});
