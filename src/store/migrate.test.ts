import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { type Database, openDatabase } from "./database.js";
import { migrate, schemaVersion } from "./migrate.js";
import { migrations } from "./migrations/index.js";

function open(): Database {
  const folder = mkdtempSync(join(tmpdir(), "mg-"));
  const database = openDatabase(join(folder, "state.db"));
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return database;
}

/** Everything that a schema is: its objects as they were written, and what the steps have put into its tables. */
function contentOf(database: Database) {
  const objects = database.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  const tables = (objects as { type: string; name: string; sql: string | null }[])
    .filter(({ type, sql }) => type === "table" && !(sql ?? "").startsWith("CREATE VIRTUAL"))
    .map(({ name }) => [name, database.prepare(`SELECT * FROM "${name}"`).all().map(withoutChance)]);
  return { version: schemaVersion(database), objects, tables };
}

/** A row, with its random value as its length: a store is named when it is made. */
function withoutChance(row: object): object {
  const { key, value } = row as { key?: unknown; value?: unknown };
  return key === "store_id" ? { key, value: String(value).length } : row;
}

test("a store that is made in one transaction is what the steps make of it one after the other", () => {
  const [at, stepwise] = [open(), open()];
  expect(migrate(at, migrations)).toEqual(migrations);
  for (const [index, step] of migrations.entries()) {
    expect(migrate(stepwise, migrations.slice(0, index + 1))).toEqual([step]);
  }
  expect(contentOf(at)).toEqual(contentOf(stepwise));
  expect(migrate(at, migrations)).toEqual([]);
});

test("a step that cannot be kept leaves those before it, also in a store that is made", () => {
  const database = open();
  const good = { version: 1, name: "good", sql: "CREATE TABLE good (x ANY) STRICT" };
  const bad = { version: 2, name: "bad", sql: "CREATE TABLE bad (x ANY) STRICT; INSERT INTO nowhere VALUES (1)" };
  expect(() => migrate(database, [good, bad])).toThrow(/nowhere/);
  expect(schemaVersion(database)).toBe(1);
  expect(database.isTransaction).toBe(false);
  expect(database.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "good" }]);
});
