import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { readSecret } from "./readSecret.js";

const folder = mkdtempSync(join(tmpdir(), "talaria-secret-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const inFile = (name: string): string => readSecret({ kind: "file", path: join(folder, name) }, {}, "The key");

test.each([
  ["white space at its end", "sk-1\r\n\n"],
  ["the mark of an editor at its beginning", "\uFEFFsk-1"],
])("%s is no part of a value", (_, content) => {
  writeFileSync(join(folder, "key"), content);
  expect(inFile("key")).toBe("sk-1");
});

test("what is no file of a value's size is refused in words, and a pipe holds nobody up", () => {
  execFileSync("mkfifo", [join(folder, "pipe")]);
  writeFileSync(join(folder, "blank"), " \n");
  writeFileSync(join(folder, "large"), "x".repeat(65_537));
  expect(() => inFile("pipe")).toThrow(/The key cannot be had: .*pipe is no regular file/);
  expect(() => inFile("blank")).toThrow(/is empty/);
  expect(() => inFile("large")).toThrow(/is larger than 64 KiB/);
  expect(() => inFile("none")).toThrow(/cannot be read from .*none: ENOENT/);
});
