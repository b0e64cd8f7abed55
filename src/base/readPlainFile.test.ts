import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { readPlainFile } from "./readPlainFile.js";

const folder = mkdtempSync(join(tmpdir(), "talaria-plain-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const path = (name: string): string => join(folder, name);

test("a file is read up to the limit, through a link too", () => {
  writeFileSync(path("file"), "12345");
  symlinkSync("file", path("link"));
  for (const name of ["file", "link"]) {
    expect(readPlainFile(path(name), 5)).toEqual({ kind: "read", bytes: Buffer.from("12345") });
    expect(readPlainFile(path(name), 4)).toEqual({ kind: "large" });
  }
  writeFileSync(path("empty"), "");
  expect(readPlainFile(path("empty"), 5)).toEqual({ kind: "read", bytes: Buffer.of() });
});

test("a pipe is not waited for, a device not read, a file without end not held", () => {
  execFileSync("mkfifo", [path("pipe")]);
  expect(readPlainFile(path("pipe"), 5)).toEqual({ kind: "strange" });
  expect(readPlainFile("/dev/zero", 5)).toEqual({ kind: "strange" });
  writeFileSync(path("sparse"), "");
  truncateSync(path("sparse"), 2 ** 40);
  expect(readPlainFile(path("sparse"), 5)).toEqual({ kind: "large" });
});

test("a file that says that it is empty is read all the same", () => {
  expect(readPlainFile("/proc/self/status", 65_536)).toMatchObject({ kind: "read" });
  expect(readPlainFile("/proc/self/status", 5)).toEqual({ kind: "large" });
});

test("what is not there and a folder are the system's errors", () => {
  expect(() => readPlainFile(path("nothing"), 5)).toThrow(/ENOENT/);
  expect(() => readPlainFile(folder, 5)).toThrow(/EISDIR/);
});
