import { spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";

import { backupName, isBackupName, MANIFEST, SNAPSHOT } from "./backupFormat.js";
import { ownBackup } from "./ownBackup.js";
import { pruneBackups, surplusBackups } from "./pruneBackups.js";

const HOME_ID = "0123456789abcdef0123456789abcdef";

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "pb-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Writes what a backup of a home is made of, packed as one is. */
function pack(path: string, madeAt: string, { homeId = HOME_ID, first = MANIFEST } = {}): void {
  const stage = folderOf();
  const manifest = { format: 1, madeAt, version: "0.1.0", homeId, epoch: 1, schema: 8 };
  writeFileSync(join(stage, first), JSON.stringify(manifest));
  writeFileSync(join(stage, SNAPSHOT), Buffer.alloc(300_000, madeAt));
  const { status, stderr } = spawnSync("tar", ["-czf", path, "-C", stage, "--", first, SNAPSHOT]);
  if (status !== 0) throw new Error(stderr.toString());
}

const at = (day: number): string => `2026-01-${String(day).padStart(2, "0")}T00:00:00.000Z`;
const nameOf = (day: number): string => backupName(Date.parse(at(day)), Buffer.from([0, 0, day]));

test("the names that the command gives are known, and no others", () => {
  expect(nameOf(3)).toBe("home-20260103T000000Z-000003.tar.gz");
  expect(isBackupName(nameOf(3))).toBe(true);
  const others = ["home.tar.gz", `${nameOf(3)}.part`, `x${nameOf(3)}`, `${nameOf(3)}\n`, `../${nameOf(3)}`, ""];
  expect(others.filter(isBackupName)).toEqual([]);
});

test.each([
  [0, 3, []],
  [1, 3, [2, 1]],
  [2, 3, [1]],
  [3, 3, []],
  [9, 3, []],
  // The clock was set back: the one just made is the oldest by its date.
  [1, 1, [3, 2]],
  [2, 1, [2]],
])("of three, keeping %i, made on day %i: gone are %j", (keep, made, gone) => {
  const found = [2, 3, 1].map((day) => ({ name: nameOf(day), madeAt: at(day) }));
  expect(surplusBackups(found, { keep, made: nameOf(made) })).toEqual(gone.map(nameOf));
});

test("a whole backup is told from everything that bears its name", () => {
  const folder = folderOf();
  const path = (name: string): string => join(folder, name);
  pack(path("whole"), at(1));
  expect(ownBackup(path("whole"))).toMatchObject({ homeId: HOME_ID, madeAt: at(1) });
  const whole = readFileSync(path("whole"));
  pack(path("other entry first"), at(1), { first: "notes.json" });
  writeFileSync(path("cut"), whole.subarray(0, whole.length - 9));
  writeFileSync(path("longer"), Buffer.concat([whole, Buffer.from("more")]));
  writeFileSync(path("packed text"), gzipSync(Buffer.alloc(5_120, "text")));
  writeFileSync(path("short"), "x");
  writeFileSync(path("empty"), "");
  mkdirSync(path("folder"));
  expect(spawnSync("mkfifo", [path("pipe")]).status).toBe(0);
  writeFileSync(path("twice"), whole);
  linkSync(path("twice"), path("linked"));
  symlinkSync(path("whole"), path("link"));
  for (const name of [
    "other entry first",
    "cut",
    "longer",
    "packed text",
    "short",
    "empty",
    "folder",
    "pipe",
    "twice",
  ]) {
    expect(ownBackup(path(name)), name).toBeUndefined();
  }
  expect(() => ownBackup(path("link"))).toThrow("ELOOP");
});

test("only whole backups of this home under the command's names go, the oldest first", async () => {
  const folder = folderOf();
  for (const day of [1, 2, 3, 4]) pack(join(folder, nameOf(day)), at(day));
  pack(join(folder, nameOf(5)), at(5), { homeId: "f".repeat(32) });
  pack(join(folder, "before-the-upgrade.tar.gz"), at(1));
  const half = readFileSync(join(folder, nameOf(1)));
  writeFileSync(join(folder, nameOf(6)), half.subarray(0, half.length / 2));
  mkdirSync(join(folder, nameOf(7)));
  writeFileSync(join(folder, nameOf(7), "kept"), "");
  symlinkSync("/etc/hostname", join(folder, nameOf(8)));
  const prune = (keep: number, made = nameOf(4)) => pruneBackups(folder, { keep, made, homeId: HOME_ID });

  expect(await prune(0)).toEqual([]);
  expect(await prune(1, "before-the-upgrade.tar.gz")).toEqual([]);
  expect(await prune(2)).toEqual([nameOf(2), nameOf(1)]);
  const left = [3, 4, 5, 6, 7, 8].map(nameOf);
  expect(readdirSync(folder).sort()).toEqual(["before-the-upgrade.tar.gz", ...left].sort());
  expect(existsSync(join(folder, nameOf(7), "kept"))).toBe(true);
});
