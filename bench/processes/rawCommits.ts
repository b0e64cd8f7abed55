import { openDatabase } from "../../src/store/database.js";
import { homePaths } from "../../src/base/home.js";
import { makeHome, removeHome } from "../lib/benchHome.js";
import { median } from "../lib/stats.js";

/** Bare commits: rows with a unique key, no more, with the store's own settings. */
export function rawCommits({ rows, bytes, commits }: { rows: number; bytes: number; commits: number }): {
  readonly p50Us: number;
  readonly rowsPerSecond: number;
} {
  const home = makeHome({});
  const database = openDatabase(homePaths(home).database);
  try {
    database.exec("CREATE TABLE messages (key TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT");
    const insert = database.prepare("INSERT INTO messages (key, body) VALUES (?, ?)");
    const body = "x".repeat(bytes);
    const durations: number[] = [];
    let key = 0;
    for (let commit = 0; commit < commits; commit++) {
      const began = performance.now();
      database.exec("BEGIN IMMEDIATE");
      for (let row = 0; row < rows; row++) insert.run(`key-${String(key++)}`, body);
      database.exec("COMMIT");
      durations.push(performance.now() - began);
    }
    const measured = durations.slice(Math.floor(commits / 4));
    const totalMs = measured.reduce((sum, ms) => sum + ms, 0);
    return { p50Us: median(measured) * 1_000, rowsPerSecond: (measured.length * rows * 1_000) / totalMs };
  } finally {
    database.close();
    removeHome(home);
  }
}
