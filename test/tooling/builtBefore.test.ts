import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";

import { BuiltBefore } from "../../scripts/lib/builtBefore.mjs";

const SETTINGS = { entry: "a.ts" };

let root: string;

/** Writes a file of the checkout, long ago. */
function write(file: string, content: string): void {
  writeFileSync(join(root, file), content);
  utimesSync(join(root, file), 1, 1);
}

/** Builds as the script does: `a.js` of `a.ts` and of something that is no file. */
function build(): void {
  const before = new BuiltBefore(root, true);
  before.add(before.key(SETTINGS), ["a.ts", "made-up:b"], new Map([["dist/a.js", Buffer.from("a")]]), ["b"]);
  write("dist/a.js", "a");
  before.save();
}

/** What is known at the next build. */
const known = (settings: unknown = SETTINGS, trusted = true): unknown => {
  const before = new BuiltBefore(root, trusted);
  return before.find(before.key(settings))?.found;
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "b-"));
  onTestFinished(() => {
    rmSync(root, { recursive: true });
  });
  mkdirSync(join(root, "dist"));
  write("a.ts", "source");
  write("package.json", "{}");
});

test("what was built of the same is known, and is not built again", () => {
  expect(known()).toBeUndefined();
  build();
  expect(known()).toEqual(["b"]);
  write("a.ts", "source");
  expect(known()).toEqual(["b"]);
});

test.each([
  ["an input has another content", () => write("a.ts", "other")],
  ["an input is gone", () => rmSync(join(root, "a.ts"))],
  ["what was an input's name is a file", () => write("made-up:b", "")],
  ["an output has another content", () => write("dist/a.js", "other")],
  ["an output is gone", () => rmSync(join(root, "dist", "a.js"))],
  ["packages may be found elsewhere", () => write("package.json", "{ }")],
  ["nobody can read what was built", () => write(".tools/built.json", "{")],
])("nothing is known where %s", (_, change) => {
  build();
  change();
  expect(known()).toBeUndefined();
});

test("nothing is known under other settings, or where nothing is to be trusted", () => {
  build();
  expect(known({ entry: "b.ts" })).toBeUndefined();
  expect(known(SETTINGS, false)).toBeUndefined();
});

test("a target is not known whose source was written while it was built", () => {
  const before = new BuiltBefore(root, true);
  writeFileSync(join(root, "a.ts"), "source");
  before.add(before.key(SETTINGS), ["a.ts"], new Map(), ["b"]);
  before.save();
  expect(known()).toBeUndefined();
});
