import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

import { type Belongings, expectNothingLeft, noteBelongings } from "./leaks.js";
import { waitFor } from "./waitFor.js";

// Set up for every test file: it gets a temporary folder of its own, and fails if anything of it is left after its last hook:
// a child, a socket, a pipe, a timer, a file in that folder, or a process that works there.
const outer = tmpdir();
/** What tools that children run keep there for themselves. */
const OTHERS = /^tsx-\d+$/;
// A short name: the paths of sockets are bounded.
const folder = mkdtempSync(join(outer, "t"));
process.env["TMPDIR"] = folder;

let before: Belongings | undefined;
beforeAll(() => {
  before = noteBelongings();
});
afterAll(async () => {
  try {
    if (before !== undefined) await expectNothingLeft(before);
    await waitFor("the file's folder is empty", () => {
      const left = readdirSync(folder).filter((name) => !OTHERS.test(name));
      return left.length === 0 ? { found: true } : { state: left };
    });
    await waitFor("no process works in the file's folder", () => {
      const left = processesIn(folder);
      return left.length === 0 ? { found: true } : { state: left };
    });
  } finally {
    process.env["TMPDIR"] = outer;
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Processes whose working directory is in a folder: what a gateway that was killed has left is nobody's child any more. */
function processesIn(root: string): readonly string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${root}/`);
      } catch {
        // It has ended, or is another user's.
        return false;
      }
    });
}
