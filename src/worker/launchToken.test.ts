import { expect, test } from "vitest";
import { EMPTY_LAUNCH_LINE, readLaunchLine, tokenBytes } from "./launchToken.js";

const token = Buffer.alloc(32, 9).toString("base64url");

test.each([1, 7, 44, 100])("a token is read from pieces of %i characters", (size) => {
  const text = `${token}\nmore`;
  let line = EMPTY_LAUNCH_LINE;
  for (let at = 0; at < text.length; at += size) line = readLaunchLine(line, text.slice(at, at + size));
  expect(line).toEqual({ kind: "token", token });
  expect(tokenBytes(token)).toEqual(Buffer.alloc(32, 9));
});

test.each(["\n", "short\n", `${token}x\n`, "x".repeat(300)])("%j is no token", (text) => {
  expect(readLaunchLine(EMPTY_LAUNCH_LINE, text)).toEqual({ kind: "none" });
});

test("the empty text stands for no token", () => {
  expect(tokenBytes("")).toHaveLength(0);
});
