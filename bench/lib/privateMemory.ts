import { readFileSync } from "node:fs";

/** Memory that only this process has, KiB. */
export function privateKib(pid: number): number {
  const lines = readFileSync(`/proc/${String(pid)}/smaps_rollup`, "latin1").split("\n");
  return lines
    .filter((line) => line.startsWith("Private_"))
    .reduce((sum, line) => sum + Number.parseInt(line.replace(/^\S+\s+/, ""), 10), 0);
}
