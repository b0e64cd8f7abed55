import { readdirSync, readFileSync } from "node:fs";

/**
 * CPU time of a live process with all its threads, microseconds. It is what `process.cpuUsage()` says inside that process,
 * read from outside: the scheduler's own count, in nanoseconds.
 */
export function cpuTimeOf(pid: number): number {
  const tasks = `/proc/${String(pid)}/task`;
  return readdirSync(tasks).reduce((sum, task) => sum + nanoseconds(`${tasks}/${task}/schedstat`), 0) / 1_000;
}

/** CPU time of this process, microseconds. */
export function ownCpuTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function nanoseconds(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, "latin1"), 10);
  } catch {
    // The thread has ended since the directory was read.
    return 0;
  }
}
