import { defineCommand } from "../command.js";
import type { Queryable } from "../sql.js";

/** Makes the table that the store's own tests write to. */
export const createNotes = defineCommand<null, null>({
  name: "test.create_notes",
  run(tx) {
    tx.run("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
    return null;
  },
});

/** Adds a note and answers with its id; refuses after the insert if told to. */
export const addNote = defineCommand<{ text: string; refuse?: boolean }, number>({
  name: "test.add_note",
  run(tx, { text, refuse }) {
    const { lastInsertRowid } = tx.run("INSERT INTO notes (text) VALUES (?)", text);
    if (refuse) throw new Error(`refused ${text}`);
    return lastInsertRowid;
  },
});

/** Removes every note. */
export const clearNotes = defineCommand<null, number>({
  name: "test.clear_notes",
  run: (tx) => tx.run("DELETE FROM notes").changes,
});

/** The texts in the order of their ids. */
export function noteTexts(from: Queryable): string[] {
  return from.all<{ text: string }>("SELECT text FROM notes ORDER BY id").map(({ text }) => text);
}
