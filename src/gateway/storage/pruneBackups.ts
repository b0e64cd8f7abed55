import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { isBackupName } from "./backupFormat.js";
import { ownBackup } from "./ownBackup.js";

/** A backup that was found. */
export interface FoundBackup {
  /** Name of the file. */
  readonly name: string;
  /** When it was made, ISO 8601. */
  readonly madeAt: string;
}

/** What {@link pruneBackups} is told. */
export interface Pruning {
  /** How many backups stay, the one that was just made included; 0 keeps all. */
  readonly keep: number;
  /** Name of the one that was just made: it stays, whatever the clock says. */
  readonly made: string;
  /** The home that they are of. */
  readonly homeId: string;
}

/** The names of the backups that are too many: all but the one just made and the newest of the others. */
export function surplusBackups(
  found: readonly FoundBackup[],
  { keep, made }: Omit<Pruning, "homeId">,
): readonly string[] {
  if (keep === 0) return [];
  return found
    .filter(({ name }) => name !== made)
    .sort((a, b) => compare(b.madeAt, a.madeAt) || compare(b.name, a.name))
    .slice(keep - 1)
    .map(({ name }) => name);
}

/**
 * Removes a home's older backups once one was made under a name of the command's. A file goes only if its name is such a one too, and
 * its content a whole backup of this very home; everything else in the folder is somebody else's.
 * @returns the names that were removed
 * @throws the system's error where the folder cannot be read or a backup not be removed; a file that cannot be read stays
 */
export async function pruneBackups(folder: string, { keep, made, homeId }: Pruning): Promise<readonly string[]> {
  if (keep === 0 || !isBackupName(made)) return [];
  const found: FoundBackup[] = [];
  for (const name of readdirSync(folder).filter(isBackupName)) {
    const madeAt = madeAtOf(join(folder, name), homeId);
    if (madeAt !== undefined) found.push({ name, madeAt });
    // A gateway serves meanwhile, however many there are.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const surplus = surplusBackups(found, { keep, made });
  for (const name of surplus) rmSync(join(folder, name));
  return surplus;
}

function madeAtOf(path: string, homeId: string): string | undefined {
  try {
    const manifest = ownBackup(path);
    return manifest?.homeId === homeId ? manifest.madeAt : undefined;
  } catch {
    return undefined;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
