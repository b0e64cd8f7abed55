import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { codeCachePath, readCodeCache, thisNode, writeCodeCache } from "./codeCache.js";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tal-cc-"));
});
afterEach(() => {
  chmodSync(directory, 0o700);
  rmSync(directory, { recursive: true, force: true });
});

const data = Buffer.from("compiled code ".repeat(100));

test("a cache comes back as it was written, for its owner's eyes alone", () => {
  const path = join(directory, "a.cache");
  expect(readCodeCache(path)).toBeUndefined();
  expect(writeCodeCache(path, data)).toBe(true);
  expect(readCodeCache(path)).toEqual(data);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(["a.cache"]);
});

test.each([
  ["a changed byte", (bytes: Buffer) => Buffer.concat([Buffer.of((bytes[0] ?? 0) ^ 1), bytes.subarray(1)])],
  ["a missing end", (bytes: Buffer) => bytes.subarray(0, -1)],
  ["an empty file", () => Buffer.alloc(0)],
  ["a checksum alone", () => Buffer.alloc(4)],
  ["something else", () => Buffer.from("this is no cache")],
])("%s makes it none, and it can be written again", (_what, spoil) => {
  const path = join(directory, "a.cache");
  writeCodeCache(path, data);
  writeFileSync(path, spoil(readFileSync(path)));
  expect(readCodeCache(path)).toBeUndefined();
  expect(writeCodeCache(path, data)).toBe(true);
  expect(readCodeCache(path)).toEqual(data);
});

test("a directory that is not there is no error", () => {
  expect(writeCodeCache(join(directory, "none", "a.cache"), data)).toBe(false);
  expect(readCodeCache(join(directory, "none", "a.cache"))).toBeUndefined();
});

test("a name that is taken by a directory is no error and leaves no partial file", () => {
  expect(writeCodeCache(directory, data)).toBe(false);
  expect(readCodeCache(directory)).toBeUndefined();
  expect(readdirSync(directory)).toEqual([]);
});

test.runIf(process.getuid?.() !== 0)("a directory that cannot be written is no error", () => {
  chmodSync(directory, 0o500);
  expect(writeCodeCache(join(directory, "a.cache"), data)).toBe(false);
});

test("the oldest files go when there are many; files of other kinds stay", () => {
  writeFileSync(join(directory, "note.txt"), "");
  for (let index = 0; index < 14; index++) {
    const path = join(directory, `${String(index).padStart(2, "0")}.cache`);
    writeCodeCache(path, data);
    utimesSync(path, 1_000 + index, 1_000 + index);
  }
  writeCodeCache(join(directory, "last.cache"), data);
  const names = readdirSync(directory).sort();
  expect(names).toHaveLength(13);
  expect(names).toContain("note.txt");
  expect(names).toContain("last.cache");
  expect(names).not.toContain("02.cache");
  expect(names).toContain("03.cache");
});

test("the script, its use, Node, V8, the architecture and Node's flags each make a name of their own", () => {
  const node = { version: "v20.1.0", v8: "11.3", arch: "x64", flags: [""] };
  const names = [
    codeCachePath("/c", "/d/program-A.cjs", "", node),
    codeCachePath("/c", "/d/program-B.cjs", "", node),
    codeCachePath("/c", "/d/program-A.cjs", "serve", node),
    codeCachePath("/c", "/d/program-A.cjs", "", { ...node, version: "v20.1.1" }),
    codeCachePath("/c", "/d/program-A.cjs", "", { ...node, v8: "11.4" }),
    codeCachePath("/c", "/d/program-A.cjs", "", { ...node, arch: "arm64" }),
    codeCachePath("/c", "/d/program-A.cjs", "", { ...node, flags: ["--max-old-space-size=64", ""] }),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(codeCachePath("/c", "/e/program-A.cjs", "", node)).toBe(names[0]);
  expect(codeCachePath("/c", "/d/x.cjs")).toBe(codeCachePath("/c", "/d/x.cjs", "", thisNode()));
});
