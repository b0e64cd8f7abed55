import { backup } from "@photostructure/sqlite";

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

/** As many pages in one step as there are: a step reads one state of the store, and the work is on another thread. */
const ALL_PAGES = -1;

/**
 * Writes the store as it is at one moment into a file of its own, while a gateway may be writing to it. The event loop goes on.
 * @param path the database
 * @param into a path where nothing is yet
 * @throws (as rejection) HomeTooNewError; StorageError where one of the two cannot be used.
 */
export async function snapshotDatabase(path: string, into: string): Promise<SnapshotFacts> {
  refuseTooNew(path, migrations);
  try {
    const database = openReadOnly(path);
    try {
      await backup(database, into, { rate: ALL_PAGES });
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
