import { createRequire } from "node:module";
import type koffi from "koffi";

type WaitPid = (pid: number, status: null, options: number) => number;

const WNOHANG = 1;

/** Takes a dead child out of the process table; does nothing where it is none. */
export type Reap = (pid: number) => void;

/** Makes a {@link Reap} of the C library's `waitpid`; undefined where that cannot be called. */
export function loadReap(): Reap | undefined {
  try {
    const library = createRequire(import.meta.url)("koffi") as typeof koffi;
    const waitpid = library.load("libc.so.6").func("int waitpid(int pid, void *status, int options)") as WaitPid;
    return (pid) => {
      waitpid(pid, null, WNOHANG);
    };
  } catch {
    return undefined;
  }
}
