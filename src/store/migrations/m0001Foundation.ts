import type { Migration } from "./migration.js";

/** What every home has: facts about itself, and one row per start of its gateway. */
export const m0001Foundation: Migration = {
  version: 1,
  name: "foundation",
  sql: `
    CREATE TABLE meta (
      key TEXT PRIMARY KEY,
      value ANY NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE epochs (
      epoch INTEGER PRIMARY KEY,
      started_at_ms INTEGER NOT NULL,
      pid INTEGER NOT NULL,
      birth_ticks INTEGER NOT NULL,
      boot_id TEXT NOT NULL
    ) STRICT;
  `,
};
