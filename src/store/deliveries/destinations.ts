import type { StoredFailure } from "../storedFailure.js";
import { failureFromColumn } from "../storedFailure.js";
import type { Queryable } from "../sql.js";

/** What is known of a gateway that messages are sent to. */
export interface StoredDestination {
  /** Name of the peer or connector. */
  readonly gateway: string;
  /** Failures in a row. */
  readonly failures: number;
  /** When it may be tried again, epoch milliseconds; undefined = at once. */
  readonly nextAttemptAt: number | undefined;
  readonly lastError: StoredFailure | undefined;
  /** Last place of its receipts that is stored here; 0 before the first. */
  readonly receiptCursor: number;
  /** Names its database; empty before it said so. */
  readonly storeId: string;
  /** Why its messages are kept waiting; undefined while they are not. */
  readonly hold: { readonly by: string; readonly at: number; readonly reason: string } | undefined;
  /** Who closed its breaker by hand last, and when in epoch milliseconds; undefined while nobody did. */
  readonly reset: { readonly by: string; readonly at: number } | undefined;
}

/** A destination's record, or what holds for one that was never tried. */
export function readDestination(from: Queryable, gateway: string): StoredDestination {
  const row = from.get<{
    failures: number;
    next_attempt_at: number | null;
    last_error: string | null;
    receipt_cursor: number;
    store_id: string;
    held_by: string;
    held_at: number | null;
    hold_reason: string;
    reset_by: string;
    reset_at: number | null;
  }>("SELECT * FROM destinations WHERE gateway = ?", gateway);
  return {
    gateway,
    failures: row?.failures ?? 0,
    nextAttemptAt: row?.next_attempt_at ?? undefined,
    lastError: failureFromColumn(row?.last_error ?? null),
    receiptCursor: row?.receipt_cursor ?? 0,
    storeId: row?.store_id ?? "",
    hold:
      row === undefined || row.held_at === null
        ? undefined
        : { by: row.held_by, at: row.held_at, reason: row.hold_reason },
    reset: row === undefined || row.reset_at === null ? undefined : { by: row.reset_by, at: row.reset_at },
  };
}
