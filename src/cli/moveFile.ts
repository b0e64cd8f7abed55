import { chmodSync, constants, copyFileSync, linkSync, rmSync } from "node:fs";

/** Moves a file to a path where nothing is, also on another file system, readable by its owner only. @throws the system's error; EEXIST where something is. */
export function moveFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOENT") throw caught;
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    chmodSync(to, 0o600);
  }
  rmSync(from);
}
