import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, rmdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { HomeError } from "../../base/homeError.js";
import { markRestored, type RestoredFacts } from "../../store/backup/markRestored.js";
import { type Manifest, MANIFEST, manifestSchema, SNAPSHOT } from "./backupFormat.js";
import { runTar } from "./runTar.js";

/** What was restored. */
export interface Restored extends RestoredFacts {
  readonly manifest: Manifest;
}

/**
 * Makes a home out of a backup, whole or not at all. What was queued in it waits for a person: see {@link markRestored}.
 * @param file a file of `backupHome`
 * @param home where nothing is yet, or an empty folder
 * @param now epoch milliseconds
 * @throws HomeError where there is something; HomeTooNewError, StorageError; Error where the file is no backup.
 */
export async function restoreHome(file: string, home: string, now: number): Promise<Restored> {
  const target = resolve(home);
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new HomeError(target, "is not empty", "restore into a folder that is not there yet");
  }
  const parent = dirname(target);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const stage = mkdtempSync(join(parent, ".talaria-restore-"));
  try {
    await runTar(["-xzf", resolve(file), "--no-same-owner", "-C", stage]);
    const manifest = readManifest(join(stage, MANIFEST), file);
    rmSync(join(stage, MANIFEST));
    const reason = `restored from a backup of ${manifest.madeAt}`;
    const facts = markRestored(join(stage, SNAPSHOT), { now, reason });
    if (existsSync(target)) rmdirSync(target);
    renameSync(stage, target);
    return { manifest, ...facts };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function readManifest(path: string, file: string): Manifest {
  if (!existsSync(path))
    throw new HomeError(file, "is no backup of a home", "name a file that talaria backup has made");
  const read = manifestSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (read.success) return read.data;
  throw new HomeError(
    file,
    "is a backup in a form that is not known",
    "restore it with the release that made it, or a later one",
  );
}
