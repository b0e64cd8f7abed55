import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";

/** Rows of one call and kind, so that it does not hold the writer. */
export const FORGET_ROWS = 256;

/** What is old enough to go. Times are epoch milliseconds. */
export interface ForgetRequest {
  /** Replies of deliveries that ended up to then go. */
  readonly repliesEndedBefore: number;
  /** Deliveries that ended up to then go, with the key that they were known by. */
  readonly endedBefore: number;
  readonly now: number;
}

/** What one call did. */
export interface ForgetResult {
  /** Replies and deliveries that went. */
  readonly removed: number;
  /** Whether more is due. */
  readonly more: boolean;
}

/**
 * Removes replies and deliveries that were kept long enough. Totals go on counting what was forgotten. A far gateway that asks for
 * the receipt of a forgotten one is told that its key is unknown.
 */
export const forgetDeliveries = defineCommand({
  name: "delivery.forget",
  run: (tx: Tx, { repliesEndedBefore, endedBefore, now }: ForgetRequest): ForgetResult => {
    const rows = tx.run(
      `DELETE FROM deliveries WHERE sequence IN
         (SELECT sequence FROM deliveries WHERE ended_at IS NOT NULL AND ended_at <= ? ORDER BY ended_at LIMIT ?)`,
      endedBefore,
      FORGET_ROWS,
    ).changes;
    const replies = tx.run(
      `UPDATE deliveries SET reply_text = NULL, reply_sha256 = NULL, reply_truncated = 0, reply_code_points = 0
       WHERE sequence IN (SELECT sequence FROM deliveries
                          WHERE reply_text IS NOT NULL AND ended_at <= ? ORDER BY ended_at LIMIT ?)`,
      repliesEndedBefore,
      FORGET_ROWS,
    ).changes;
    tx.run("DELETE FROM loop_guards WHERE until <= ?", now);
    return { removed: rows + replies, more: rows === FORGET_ROWS || replies === FORGET_ROWS };
  },
});
