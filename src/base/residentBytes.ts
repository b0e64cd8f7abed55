import { readFileSync } from "node:fs";

import type { ProcessTable } from "./processTable.js";
import { groupMembers, systemProcessTable } from "./processTable.js";

/** Resident memory of a process group in bytes, shared pages counted for each process; 0 where the system does not say (Linux does). */
export function residentBytesOf(processGroup: number, table: ProcessTable = systemProcessTable): number {
  let kilobytes = 0;
  for (const { pid } of groupMembers(processGroup, table)) kilobytes += residentKilobytes(pid);
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
