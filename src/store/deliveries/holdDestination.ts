import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";

/** A hold of a destination. */
export interface DestinationHold {
  readonly gateway: string;
  /** Principal that holds it. */
  readonly by: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Keeps messages for a destination waiting; a later hold replaces who, when and why. */
export const holdDestination = defineCommand({
  name: "destination.hold",
  run: (tx: Tx, { gateway, by, reason, now }: DestinationHold): boolean =>
    tx.run(
      `INSERT INTO destinations (gateway, held_by, held_at, hold_reason, updated_at) VALUES (?1, ?2, ?4, ?3, ?4)
       ON CONFLICT (gateway) DO UPDATE SET held_by = ?2, held_at = ?4, hold_reason = ?3, updated_at = ?4`,
      gateway,
      by,
      reason,
      now,
    ).changes > 0,
});

/** A breaker that is closed by hand. */
export interface DestinationReset {
  readonly gateway: string;
  /** Principal that closes it. */
  readonly by: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Closes a breaker and lets messages that wait for their next attempt be tried at once; who and when are kept. A hold stays. */
export const resetDestination = defineCommand({ name: "destination.reset", run: reset });

/** {@link resetDestination}, and ends a hold. */
export const releaseDestination = defineCommand({
  name: "destination.release",
  run(tx: Tx, request: DestinationReset): boolean {
    const sql = "UPDATE destinations SET held_by = '', held_at = NULL, hold_reason = '' WHERE gateway = ?";
    tx.run(sql, request.gateway);
    return reset(tx, request);
  },
});

function reset(tx: Tx, { gateway, by, now }: DestinationReset): boolean {
  tx.run("UPDATE deliveries SET next_attempt_at = NULL WHERE recipient_gateway = ? AND state = 'queued'", gateway);
  const { changes } = tx.run(
    `INSERT INTO destinations (gateway, reset_by, reset_at, updated_at) VALUES (?1, ?2, ?3, ?3)
     ON CONFLICT (gateway) DO UPDATE SET failures = 0, next_attempt_at = NULL, last_error = NULL, reset_by = ?2, reset_at = ?3,
       updated_at = ?3`,
    gateway,
    by,
    now,
  );
  return changes > 0;
}
