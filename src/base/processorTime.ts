import { readFileSync } from "node:fs";

import type { ProcessIdentity } from "./processIdentity.js";

/** Clock ticks a second in /proc, the same on every Linux that Node runs on. Source: proc(5), USER_HZ. */
const TICKS = 100;

/** Processor time that processes have used, milliseconds; 0 where the system does not say (Linux does). It falls when one of them ends. */
export function processorMsOf(processes: readonly ProcessIdentity[]): number {
  let ticks = 0;
  for (const { pid } of processes) ticks += ticksOf(pid);
  return (ticks * 1_000) / TICKS;
}

function ticksOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${String(pid)}/stat`, "latin1");
    // After the command's name, which may hold spaces: state is field 3, user and system time are 14 and 15.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  } catch {
    // Ended since it was listed.
    return 0;
  }
}
