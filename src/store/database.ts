import { closeSync, existsSync, openSync } from "node:fs";

import { DatabaseSync } from "@photostructure/sqlite";

import { toStorageError } from "./toStorageError.js";

/** One connection. */
export type Database = InstanceType<typeof DatabaseSync>;

/** How long a statement waits for another connection's lock. */
const BUSY_TIMEOUT_MS = 5_000;

/** What {@link openDatabase} can be told. */
export interface DatabaseOptions {
  /** Largest size in pages of 4 KiB; beyond it a write fails as on a full disk. Default: no bound of ours. */
  readonly maxPageCount?: number;
}

/**
 * Opens or creates a database for writing: WAL, every commit synced, foreign keys checked, deleted content overwritten; one that is
 * created gives free pages back when it is told to.
 * The file is created readable by its owner only; SQLite gives its companions the same mode.
 * @throws StorageError where the file cannot be used.
 */
export function openDatabase(path: string, { maxPageCount }: DatabaseOptions = {}): Database {
  return guarded(() => {
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    // Of a file with nothing in it alone; another one stays as it was made.
    database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");
    // 16 MiB of log: a page that a busy time changes again and again is written back once for four times as many commits.
    database.exec("PRAGMA wal_autocheckpoint = 4000");
    database.exec("PRAGMA secure_delete = ON");
    // A savepoint's journal would hold whole pages, messages and all, in the system's temporary directory.
    database.exec("PRAGMA temp_store = MEMORY");
    if (maxPageCount !== undefined) database.exec(`PRAGMA max_page_count = ${String(Math.trunc(maxPageCount))}`);
    return database;
  });
}

/**
 * Opens an existing database for reading only.
 * @throws StorageError where the file cannot be used.
 */
export function openReadOnly(path: string): Database {
  return guarded(() => {
    const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    database.exec("PRAGMA query_only = ON");
    database.exec("PRAGMA temp_store = MEMORY");
    return database;
  });
}

function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw toStorageError(error) ?? error;
  }
}
