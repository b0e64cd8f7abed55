import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * Writes a file that its owner alone may read, by renaming, so that whoever reads meanwhile sees a whole file.
 * @throws errors of the system; then nothing is left beside it.
 */
export function replaceFile(file: string, text: string): void {
  const temporary = `${file}.${String(process.pid)}`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    // The mode of the line above is that of a fresh file, less the process's mask.
    chmodSync(temporary, 0o600);
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}
