import { openReadOnly } from "../database.js";
import { refuseTooNew, schemaVersion } from "../migrate.js";
import { migrations } from "../migrations/index.js";
import { Reader } from "../reader.js";
import { toStorageError } from "../toStorageError.js";

/** What a snapshot holds. */
export interface SnapshotFacts {
  /** Names the home. */
  readonly homeId: string;
  /** The epoch of its last start. */
  readonly epoch: number;
  /** Version of its schema. */
  readonly schema: number;
}

/**
 * Writes the store as it is at one moment into a file of its own, while a gateway may be writing to it.
 * @param path the database
 * @param into a path where nothing is yet
 * @throws HomeTooNewError; StorageError where one of the two cannot be used.
 */
export function snapshotDatabase(path: string, into: string): SnapshotFacts {
  refuseTooNew(path, migrations);
  try {
    const database = openReadOnly(path);
    try {
      // The connection cannot write to the store; what it writes is the other file.
      database.exec("PRAGMA query_only = OFF");
      database.prepare("VACUUM INTO ?").run(into);
    } finally {
      database.close();
    }
    return factsOf(into);
  } catch (error) {
    throw toStorageError(error) ?? error;
  }
}

function factsOf(path: string): SnapshotFacts {
  const database = openReadOnly(path);
  const schema = schemaVersion(database);
  const reader = new Reader(database);
  try {
    const epoch = reader.get<{ epoch: number | null }>("SELECT max(epoch) AS epoch FROM epochs")?.epoch ?? 0;
    const homeId = reader.get<{ value: string }>("SELECT value FROM meta WHERE key = 'home_id'")?.value ?? "";
    return { homeId, epoch, schema };
  } finally {
    reader.close();
  }
}
