import { existsSync, statSync } from "node:fs";

import type { Database } from "./database.js";
import { openReadOnly } from "./database.js";
import { HomeTooNewError } from "./homeTooNewError.js";
import type { Migration } from "./migrations/migration.js";
import { toStorageError } from "./toStorageError.js";

/**
 * Refuses a database that a later release wrote, before anything opens it for writing.
 * @throws HomeTooNewError for such a database; StorageError where it cannot be read.
 */
export function refuseTooNew(path: string, migrations: readonly Migration[]): void {
  if (!existsSync(path) || statSync(path).size === 0) return;
  const database = openReadOnly(path);
  try {
    const found = schemaVersion(database);
    if (found > migrations.length) throw new HomeTooNewError(path, found, migrations.length);
  } catch (error) {
    throw toStorageError(error) ?? error;
  } finally {
    database.close();
  }
}

/**
 * Brings the schema up to the last migration, each step in a transaction of its own; a database without one gets all of them in a single
 * transaction, since each commit is synced, and a first start waits for them.
 * @returns the steps that ran.
 * @throws StorageError where a step could not be kept; the schema is then that of the step before.
 */
export function migrate(database: Database, migrations: readonly Migration[]): readonly Migration[] {
  const found = schemaVersion(database);
  const pending = inOrder(migrations).slice(found);
  // Where they cannot all be kept at once, one after the other tells which cannot, and keeps those before it.
  if (found === 0 && tryAll(database, pending)) return pending;
  for (const step of pending) {
    try {
      inTransaction(database, [step]);
    } catch (error) {
      throw toStorageError(error) ?? error;
    }
  }
  return pending;
}

function tryAll(database: Database, steps: readonly Migration[]): boolean {
  try {
    inTransaction(database, steps);
    return true;
  } catch {
    return false;
  }
}

function inTransaction(database: Database, steps: readonly Migration[]): void {
  const statements = steps.map(({ version, sql }) => `${sql}; PRAGMA user_version = ${String(version)};`);
  try {
    database.exec(`BEGIN IMMEDIATE; ${statements.join(" ")} COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** The version that the schema has; 0 for a database without one. */
export function schemaVersion(database: Database): number {
  const row = database.prepare("PRAGMA user_version").get() as { user_version: number };
  return row.user_version;
}

function inOrder(migrations: readonly Migration[]): readonly Migration[] {
  migrations.forEach(({ version, name }, index) => {
    if (version !== index + 1)
      throw new Error(`migration ${name} has version ${String(version)}, not ${String(index + 1)}`);
  });
  return migrations;
}
