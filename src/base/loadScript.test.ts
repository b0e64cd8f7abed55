import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { codeCachePath, readCodeCache, writeCodeCache } from "./codeCache.js";
import { loadScript } from "./loadScript.js";

interface Exports {
  readonly name: string;
  readonly directory: string;
  readonly add: (a: number, b: number) => number;
  readonly basename: (path: string) => string;
  readonly fail: () => never;
  readonly host: { readonly importModule: (specifier: string) => Promise<unknown> } | undefined;
}

let directory: string;
let script: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tal-ls-"));
  script = join(directory, "program-1.cjs");
  writeFileSync(
    script,
    `(function (exports, require, module, __filename, __dirname, host) {
const { basename } = require("node:path");
module.exports = Object.assign(module.exports, {
  name: __filename, directory: __dirname, basename, host,
  add(a, b) { return a + b; },
  fail() { throw new Error("on line six"); },
});
})`,
  );
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function load() {
  return loadScript<Exports>(script, directory);
}

test("a script runs as a CommonJS module does, and its traces name its file and line", () => {
  const { exports, cached } = loadScript<Exports>(script, undefined);
  expect(cached).toBe(false);
  expect(exports).toMatchObject({ name: script, directory });
  expect(exports.basename("/a/b")).toBe("b");
  expect(() => exports.fail()).toThrow(
    expect.objectContaining({ stack: expect.stringContaining(`${script}:6:`) as string }),
  );
});

test("the code that was compiled is kept once and taken by the next start", () => {
  const first = load();
  expect(first.exports.add(1, 2)).toBe(3);
  expect(readdirSync(directory)).toEqual(["program-1.cjs"]);
  first.keepCache();
  const path = codeCachePath(directory, script);
  const kept = readFileSync(path);
  const second = load();
  expect(second.cached).toBe(true);
  expect(second.exports.add(1, 2)).toBe(3);
  second.keepCache();
  expect(readFileSync(path)).toEqual(kept);
});

test.each(["a broken file", "another script's cache"])("%s is ignored and made again", (what) => {
  const path = codeCachePath(directory, script);
  if (what === "a broken file") writeFileSync(path, "broken");
  else {
    load().keepCache();
    const other = readCodeCache(path) ?? Buffer.alloc(0);
    rmSync(path);
    writeFileSync(script, `${readFileSync(script, "latin1")}// longer`);
    writeCodeCache(path, other);
  }
  const loaded = load();
  expect(loaded.cached).toBe(false);
  expect(loaded.exports.add(1, 2)).toBe(3);
  loaded.keepCache();
  expect(load().cached).toBe(true);
});

test("without a directory nothing is kept", () => {
  loadScript<Exports>(script, undefined).keepCache();
  loadScript<Exports>(script, join(directory, "none")).keepCache();
  expect(readdirSync(directory)).toEqual(["program-1.cjs"]);
  loadScript<Exports>(script, undefined).keepCache(directory);
  expect(load().cached).toBe(true);
});

test("each use has its own cache, and takes no other's", () => {
  loadScript<Exports>(script, directory, { use: "serve" }).keepCache();
  expect(load().cached).toBe(false);
  expect(loadScript<Exports>(script, directory, { use: "command" }).cached).toBe(false);
  expect(loadScript<Exports>(script, directory, { use: "serve" }).cached).toBe(true);
});

test("code from the cache imports by what it is handed", async () => {
  const host = { importModule: (specifier: string): Promise<unknown> => import(specifier) };
  loadScript<Exports>(script, directory, { host }).keepCache();
  const { exports, cached } = loadScript<Exports>(script, directory, { host });
  expect(cached).toBe(true);
  await expect(exports.host?.importModule("node:path")).resolves.toHaveProperty("join");
});
