import { openDatabase } from "../database.js";
import { holdDestination } from "../deliveries/holdDestination.js";
import { migrate, refuseTooNew } from "../migrate.js";
import { migrations } from "../migrations/index.js";
import { Statements } from "../statements.js";
import { toStorageError } from "../toStorageError.js";

/** Epochs that are passed over: more than the home can have had starts since its backup. */
export const EPOCHS_PASSED = 1_000_000;
/** What a session is paused behind in a restored home: no execution has this id. */
export const RESTORED = `exe_${"0".repeat(26)}`;

/** What was done to a restored store. */
export interface RestoredFacts {
  /** The epoch that it is at. */
  readonly epoch: number;
  /** Peers and connectors whose messages wait until they are released. */
  readonly heldDestinations: readonly string[];
  /** Sessions whose inputs wait until they are acknowledged. */
  readonly pausedSessions: readonly string[];
}

/**
 * Makes a store out of a snapshot safe to be served: its epoch is past any that the home has had since, what was queued or under way waits for a
 * person (it may have been done after the snapshot was made), and no process that runs is taken for a worker of its own. The store has
 * another id, because it knows fewer keys and receipts than its peers remember: they ask again for what it had accepted.
 * @param now epoch milliseconds
 * @param reason why destinations are held, for people
 * @throws HomeTooNewError; StorageError where it cannot be written.
 */
export function markRestored(path: string, { now, reason }: { now: number; reason: string }): RestoredFacts {
  refuseTooNew(path, migrations);
  const database = openDatabase(path);
  try {
    migrate(database, migrations);
    const tx = new Statements(database);
    tx.run("BEGIN IMMEDIATE");
    tx.run("UPDATE launches SET gone_at = ? WHERE gone_at IS NULL", now);
    tx.run(
      `INSERT INTO epochs (epoch, started_at_ms, pid, birth_ticks, boot_id)
       SELECT coalesce(max(epoch), 0) + ?, ?, 0, 0, '' FROM epochs`,
      EPOCHS_PASSED,
      now,
    );
    tx.run("UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'store_id'");
    const heldDestinations = tx
      .all<{ name: string }>(
        `SELECT DISTINCT recipient_gateway AS name FROM deliveries
         WHERE state = 'queued' AND recipient_gateway <> '' ORDER BY name`,
      )
      .map(({ name }) => name);
    for (const gateway of heldDestinations) holdDestination.run(tx, { gateway, by: "restore", reason, now });
    const pausedSessions = tx
      .all<{ id: string }>(
        `UPDATE sessions SET paused_execution_id = ?, updated_at = ?, revision = revision + 1
         WHERE paused_execution_id IS NULL
           AND session_id IN (SELECT session_id FROM inputs WHERE state <> 'ended')
         RETURNING session_id AS id`,
        RESTORED,
        now,
      )
      .map(({ id }) => id);
    const epoch = tx.get<{ epoch: number }>("SELECT max(epoch) AS epoch FROM epochs")?.epoch ?? 0;
    tx.run("COMMIT");
    return { epoch, heldDestinations, pausedSessions };
  } catch (error) {
    throw toStorageError(error) ?? error;
  } finally {
    // What was not committed is undone.
    database.close();
  }
}
