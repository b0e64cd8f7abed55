import type { Queryable } from "../sql.js";

/** Counts of deliveries; accepted = queued + claimed + ended. */
export interface DeliveryTotals {
  readonly accepted: number;
  readonly queued: number;
  readonly claimed: number;
  readonly ended: number;
}

/** Reads the totals that move with the deliveries. */
export function readDeliveryTotals(from: Queryable): DeliveryTotals {
  const rows = from.all<{ name: string; value: number }>("SELECT name, value FROM delivery_totals");
  const of = (...names: readonly string[]): number =>
    rows.filter(({ name }) => names.includes(name)).reduce((sum, { value }) => sum + value, 0);
  return {
    accepted: of("accepted"),
    queued: of("queued"),
    claimed: of("claimed"),
    ended: of("replied", "silent", "failed", "expired", "cancelled", "unknown"),
  };
}
