import { statSync } from "node:fs";

import { DISK_LIMIT, type DiskUse, measureDisk, type MeasureDisk, shareInUse } from "../../base/diskUse.js";
import type { HomePaths } from "../../base/home.js";
import { type Finding, ok, problem, skipped, warning } from "./finding.js";

/** Oldest Node that this version runs on. Source: `engines` of package.json. */
const OLDEST_NODE = [20, 19] as const;

/** Use of the home's disk from which on new work is refused, and from which on it is near, in per cent. */
const DISK_FULL_PERCENT = DISK_LIMIT * 100;
const DISK_NEAR_PERCENT = 90;

/** A clock before this was never set: the day on which this was written is later. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);

/** How far behind a file of the home the clock may be, milliseconds. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Whether this Node can run Talaria. @param version as `process.versions.node` has it. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [needMajor, needMinor] = OLDEST_NODE;
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return ok("node", `Node ${version}`);
  const needed = OLDEST_NODE.join(".");
  return problem("node", `Node ${version} is too old.`, `Install Node ${needed} or later.`);
}

/** Whether the disk of a home has room, by the gateway's own measure. */
export async function checkDisk(root: string, measure: MeasureDisk = measureDisk): Promise<Finding> {
  let found: DiskUse;
  try {
    found = await measure(root);
  } catch (error) {
    return skipped("disk", `The file system of ${root} cannot be read: ${codeOf(error)}.`);
  }
  if (found.usedBytes + found.freeBytes === 0)
    return skipped("disk", `The file system of ${root} does not say how large it is.`);
  const used = Math.round(shareInUse(found) * 100);
  const free = `${String(Math.round(found.freeBytes / 1024 ** 2))} MiB free`;
  if (used >= DISK_FULL_PERCENT) {
    return problem("disk", `The disk of ${root} is ${String(used)} % full, ${free}.`, "Free space, or move the home.");
  }
  if (used >= DISK_NEAR_PERCENT) {
    const fix = `Free space before it reaches ${String(DISK_FULL_PERCENT)} %.`;
    return warning("disk", `The disk of ${root} is ${String(used)} % full, ${free}.`, fix);
  }
  return ok("disk", `${String(used)} % full, ${free}`);
}

/** Whether the clock can be right: certificates and expiries are judged by it. */
export function checkClock(paths: Pick<HomePaths, "database" | "root">, nowMs: number): Finding {
  const now = new Date(nowMs).toISOString();
  const fix = "Set the clock; a time service keeps it right.";
  if (nowMs < EARLIEST_MS) return problem("clock", `The clock says ${now}.`, fix);
  const newest = Math.max(...[paths.root, paths.database, `${paths.database}-wal`].map(writtenAt));
  if (newest - nowMs > CLOCK_TOLERANCE_MS) {
    return problem("clock", `The clock says ${now}, and the home was written later.`, fix);
  }
  return ok("clock", now);
}

/** When a file was written last, epoch milliseconds; 0 where it cannot be looked at. */
function writtenAt(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

/** The code of an error of the system, for people. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : String(error));
}
