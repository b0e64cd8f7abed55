/**
 * A process that opens the home named by its first argument, adds numbered notes without end, 16 at a time, and prints the
 * number of each one after its commit. It runs until it is killed.
 */
import { homePaths } from "../../base/home.js";
import { openStore } from "../store.js";
import { addNote, createNotes } from "./notes.js";

const store = await openStore(homePaths(process.argv[2] ?? ""));
await store.writer.execute(createNotes, null);
let next = 0;
for (;;) {
  const batch = Array.from({ length: 16 }, async () => {
    const text = String(next++);
    await store.writer.execute(addNote, { text });
    process.stdout.write(`${text}\n`);
  });
  await Promise.all(batch);
}
