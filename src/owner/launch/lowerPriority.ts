import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";

/**
 * Has a process and what it starts stand back behind the gateway where processor time is short. Linux counts each session as one where
 * it groups processes by their sessions, so the group's own value is set beside the process's; where either cannot be, it is left.
 * @param nice 0 to 19, more stands further back. Source: sched(7), "The autogroup feature"
 */
export function lowerPriority(pid: number, nice: number): void {
  if (nice === 0) return;
  try {
    setPriority(pid, nice);
    writeFileSync(`/proc/${String(pid)}/autogroup`, String(nice));
  } catch {
    // It has ended, the kernel has no such groups, or it takes no more changes at this moment.
  }
}
