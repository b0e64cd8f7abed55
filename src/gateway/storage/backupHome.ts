import { closeSync, fsyncSync, linkSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { homePaths } from "../../base/home.js";
import { VERSION } from "../../base/version.js";
import { snapshotDatabase } from "../../store/backup/snapshotDatabase.js";
import { isKept, type Manifest, MANIFEST, SNAPSHOT, STAGE_PREFIX } from "./backupFormat.js";
import { runTar } from "./runTar.js";

/** GNU tar's code for a file that changed while it was read: an agent's workspace may be in use. */
const CHANGED_WHILE_READ = 1;

/** What {@link backupHome} can be told. */
export interface BackupOptions {
  /** Ends it before it is done; default never. */
  readonly signal?: AbortSignal;
  /** Told of the file that grows once the store's snapshot is made. */
  readonly onPacking?: (path: string) => void;
}

/**
 * Writes a home into one file of mode 0600, a gzipped tar: {@link MANIFEST}, the store as it was at one moment, then the rest of the
 * home. A gateway may be serving it; files that agents write meanwhile are as they were found.
 * @param home the home's root
 * @param file where nothing is yet
 * @param now epoch milliseconds
 * @throws HomeTooNewError, StorageError, the system's errors (EEXIST where the file is there), the signal's reason; then there is no file.
 */
export async function backupHome(
  home: string,
  file: string,
  now: number,
  { signal, onPacking = () => undefined }: BackupOptions = {},
): Promise<Manifest> {
  const { root, database } = homePaths(home);
  const target = resolve(file);
  const stage = mkdtempSync(join(dirname(target), STAGE_PREFIX));
  try {
    const facts = await snapshotDatabase(database, join(stage, SNAPSHOT));
    const manifest: Manifest = { format: 1, madeAt: new Date(now).toISOString(), version: VERSION, ...facts };
    writeFileSync(join(stage, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
    const kept = readdirSync(root).filter(isKept);
    const packed = join(stage, "packed");
    const output = openSync(packed, "wx", 0o600);
    onPacking(packed);
    try {
      const args = ["-czf", "-", "-C", stage, MANIFEST, SNAPSHOT, "-C", root, "--", ...kept];
      await runTar(args, {
        output,
        worstCode: CHANGED_WHILE_READ,
        ...(signal === undefined ? {} : { signal }),
      });
      fsyncSync(output);
    } finally {
      closeSync(output);
    }
    linkSync(packed, target);
    return manifest;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}
