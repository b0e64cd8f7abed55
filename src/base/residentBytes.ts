import { readFileSync } from "node:fs";

import type { ProcessIdentity } from "./processIdentity.js";

/** Resident memory of processes in bytes, shared pages counted for each; 0 where the system does not say (Linux does). */
export function residentBytesOf(processes: readonly ProcessIdentity[]): number {
  let kilobytes = 0;
  for (const { pid } of processes) kilobytes += residentKilobytes(pid);
  return kilobytes * 1_024;
}

function residentKilobytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, "latin1"))?.[1] ?? 0);
  } catch {
    // Ended since it was listed.
    return 0;
  }
}
