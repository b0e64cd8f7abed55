import type { Queryable } from "../sql.js";
import type { DeliveryState } from "./deliveryState.js";
import { DELIVERY_STATES } from "./deliveryState.js";

/** Totals since the home began. At every sample `accepted` is the sum of all states. */
export interface DeliveryTotals {
  /** Messages ever accepted. */
  readonly accepted: number;
  /** Messages by where they stand, forgotten ones included. */
  readonly states: Readonly<Record<DeliveryState, number>>;
  /** Bytes of bodies kept. */
  readonly bodyBytes: number;
}

/** Reads the totals. */
export function readDeliveryTotals(from: Queryable): DeliveryTotals {
  const rows = from.all<{ name: string; value: number }>("SELECT name, value FROM delivery_totals");
  const byName = new Map(rows.map(({ name, value }) => [name, value]));
  const value = (name: string): number => byName.get(name) ?? 0;
  const states = Object.fromEntries(DELIVERY_STATES.map((state) => [state, value(state)]));
  return {
    accepted: value("accepted"),
    states: states as Record<DeliveryState, number>,
    bodyBytes: value("body_bytes"),
  };
}
