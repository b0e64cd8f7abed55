import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { codeDirectory } from "./codeDirectory.js";

/** A home that was served: with a cache folder. */
function servedHome(): { readonly home: string; readonly cache: string } {
  const home = mkdtempSync(join(tmpdir(), "tal-cd-"));
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  const cache = join(home, "cache");
  mkdirSync(cache, { mode: 0o700 });
  return { home, cache };
}

test("it is in the home that the command line names, else in that of the environment", () => {
  const [named, other] = [servedHome(), servedHome()];
  const env = { TALARIA_HOME: other.home };
  expect(codeDirectory(["--home", named.home, "serve"], env)).toBe(named.cache);
  expect(codeDirectory(["serve", `--home=${named.home}`], env)).toBe(named.cache);
  expect(codeDirectory(["run", "main", "--", "--home", named.home], env)).toBe(other.cache);
  expect(codeDirectory(["serve"], env)).toBe(other.cache);
});

test("there is none before the home is served, and none where others may write", () => {
  const { home, cache } = servedHome();
  chmodSync(cache, 0o770);
  expect(codeDirectory(["--home", home], {})).toBeUndefined();
  rmSync(cache, { recursive: true });
  expect(codeDirectory(["--home", home], {})).toBeUndefined();
  writeFileSync(cache, "");
  expect(codeDirectory(["--home", home], {})).toBeUndefined();
  // A home that is a file: to tell of it is for the command.
  expect(codeDirectory(["--home", cache], {})).toBeUndefined();
});

test.runIf(process.getuid?.() === 0)("a folder of somebody else's is none", () => {
  const { home, cache } = servedHome();
  chownSync(cache, 12_345, 12_345);
  expect(codeDirectory(["--home", home], {})).toBeUndefined();
});
