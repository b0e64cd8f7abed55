import { chmodSync, constants, copyFileSync, linkSync, rmSync } from "node:fs";

/** Moves a file to a path where nothing is, also on another file system, readable by its owner only. @throws the system's error; EEXIST where something is. */
export function moveFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === "EEXIST" || code === "ENOENT") throw caught;
    try {
      copyFileSync(from, to, constants.COPYFILE_EXCL);
    } catch (failed) {
      // What is there of it is no whole file.
      if ((failed as NodeJS.ErrnoException).code !== "EEXIST") rmSync(to, { force: true });
      throw failed;
    }
    chmodSync(to, 0o600);
  }
  rmSync(from);
}
