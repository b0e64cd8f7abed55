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

/** Ends a hold, closes the breaker and lets messages that wait for their next attempt be tried at once. */
export const releaseDestination = defineCommand({
  name: "destination.release",
  run: (tx: Tx, { gateway, now }: { readonly gateway: string; readonly now: number }): boolean => {
    tx.run("UPDATE deliveries SET next_attempt_at = NULL WHERE recipient_gateway = ? AND state = 'queued'", gateway);
    return (
      tx.run(
        `UPDATE destinations SET held_by = '', held_at = NULL, hold_reason = '', failures = 0, next_attempt_at = NULL,
           last_error = NULL, updated_at = ? WHERE gateway = ?`,
        now,
        gateway,
      ).changes > 0
    );
  },
});
