import { readFileSync, statSync } from "node:fs";

import { BACKGROUND_MARK } from "../../base/backgroundMark.js";

/**
 * Variable that names its launch to every process of it; no secret. A process that comes from elsewhere does not have it. Its name keeps it
 * in the environment of commands, from which what is meant for the worker is taken.
 */
export const LAUNCH_MARK = "_TALARIA_LAUNCH";

/** The launch that a process comes from, by the environment it was started with; undefined where that cannot be read. */
export type ReadLaunchMark = (pid: number) => string | undefined;

/** What the environment that a process was started with says of it. */
export interface ProcessMarks {
  /** The launch that it comes from; undefined for none. */
  readonly launch: string | undefined;
  /** Whether it is meant to go on after its turn. */
  readonly background: boolean;
}

/** Reads {@link ProcessMarks}; undefined where the environment cannot be read. */
export type ReadMarks = (pid: number) => ProcessMarks | undefined;

/** Reads the marks on Linux, of this user's own processes; elsewhere nothing. A process can have written over them. */
export const readMarks: ReadMarks = (pid) => {
  if (process.platform !== "linux") return undefined;
  try {
    if (statSync(`/proc/${String(pid)}`).uid !== process.getuid?.()) return undefined;
    const environment = readFileSync(`/proc/${String(pid)}/environ`, "utf8").split("\0");
    return {
      launch: environment.find((one) => one.startsWith(`${LAUNCH_MARK}=`))?.slice(LAUNCH_MARK.length + 1),
      background: environment.some((one) => one.startsWith(`${BACKGROUND_MARK}=`)),
    };
  } catch {
    return undefined;
  }
};

/** The launch's mark alone. */
export const readLaunchMark: ReadLaunchMark = (pid) => readMarks(pid)?.launch;
