import { readFileSync, statSync } from "node:fs";

/**
 * Variable that names its launch to every process of it; no secret. A process that comes from elsewhere does not have it. Its name keeps it
 * in the environment of commands, from which what is meant for the worker is taken.
 */
export const LAUNCH_MARK = "_TALARIA_LAUNCH";

/** The launch that a process comes from, by the environment it was started with; undefined where that cannot be read. */
export type ReadLaunchMark = (pid: number) => string | undefined;

/** Reads the mark on Linux, of this user's own processes; elsewhere nothing. A process can have written over it. */
export const readLaunchMark: ReadLaunchMark = (pid) => {
  if (process.platform !== "linux") return undefined;
  try {
    if (statSync(`/proc/${String(pid)}`).uid !== process.getuid?.()) return undefined;
    const environment = readFileSync(`/proc/${String(pid)}/environ`, "utf8").split("\0");
    return environment.find((one) => one.startsWith(`${LAUNCH_MARK}=`))?.slice(LAUNCH_MARK.length + 1);
  } catch {
    return undefined;
  }
};
