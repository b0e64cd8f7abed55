import { readdirSync, readlinkSync } from "node:fs";

import { afterEach, beforeEach, expect, test } from "vitest";

import { openDatabase } from "./database.js";
import { Statements } from "./statements.js";
import { tempHome } from "./testing/tempHome.js";

let home: ReturnType<typeof tempHome>;

beforeEach(() => {
  home = tempHome();
});

afterEach(() => {
  home.remove();
});

/** The files of SQLite's own that this process holds open, deleted ones included. */
function temporaryFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.includes("etilqs") ? [path] : [];
    } catch {
      return [];
    }
  });
}

test.runIf(process.platform === "linux")("what a savepoint would undo is kept in no file outside the home", () => {
  const database = openDatabase(home.paths.database);
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)");
  const insert = database.prepare("INSERT INTO notes (text) VALUES (?)");
  for (let count = 0; count < 500; count += 1) insert.run("a private message ".repeat(50));
  database.exec("BEGIN; SAVEPOINT one; UPDATE notes SET text = text || 'x'");
  const during = temporaryFiles();
  database.exec("ROLLBACK");
  database.close();
  expect(during).toEqual([]);
});

test("text with U+0000 is kept to its end", () => {
  const database = openDatabase(home.paths.database);
  database.exec("CREATE TABLE notes (text TEXT)");
  const statements = new Statements(database);
  statements.run("INSERT INTO notes (text) VALUES (?)", "before\0after");
  const row = statements.get<{ text: string }>("SELECT text FROM notes WHERE text = ?", "before\0after");
  database.close();
  expect(row?.text).toBe("before\uFFFDafter");
});

test.each([2 ** 53, -(2 ** 53), 2 ** 60, 2n ** 60n])(
  "a number that could not be read back, %s, is not stored",
  (figure) => {
    const database = openDatabase(home.paths.database);
    database.exec("CREATE TABLE figures (figure INTEGER)");
    const statements = new Statements(database);
    statements.run("INSERT INTO figures (figure) VALUES (?)", Number.MAX_SAFE_INTEGER);
    expect(() => statements.run("INSERT INTO figures (figure) VALUES (?)", figure)).toThrow(RangeError);
    const rows = statements.all("SELECT figure FROM figures");
    database.close();
    expect(rows).toEqual([{ figure: Number.MAX_SAFE_INTEGER }]);
  },
);
