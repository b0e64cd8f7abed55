import type { Migration } from "./migration.js";

/**
 * Turns by how they ended, counted with the ends themselves, so that the counts add up with the totals at every moment and outlive
 * sessions that are deleted.
 */
export const m0006TurnOutcomes: Migration = {
  version: 6,
  name: "turn-outcomes",
  sql: `
CREATE TABLE turn_outcomes (
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (outcome, reason)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER inputs_ended AFTER UPDATE OF state ON inputs WHEN new.state = 'ended' AND old.state <> 'ended' BEGIN
  INSERT INTO turn_outcomes (outcome, reason, turns)
    VALUES (new.outcome, COALESCE(json_extract(new.failure, '$.reason'), ''), 1)
    ON CONFLICT (outcome, reason) DO UPDATE SET turns = turns + 1;
END;
`,
};
