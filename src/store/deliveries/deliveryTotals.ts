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
  /** Attempts at another gateway that failed. */
  readonly failedAttempts: number;
}

/** Reads the totals. */
export function readDeliveryTotals(from: Queryable): DeliveryTotals {
  const row = from.get<Record<DeliveryState | "accepted" | "body_bytes" | "failed_attempts", number>>(
    "SELECT * FROM delivery_totals WHERE one = 1",
  );
  const states = Object.fromEntries(DELIVERY_STATES.map((state) => [state, row?.[state] ?? 0]));
  return {
    accepted: row?.accepted ?? 0,
    states: states as Record<DeliveryState, number>,
    bodyBytes: row?.body_bytes ?? 0,
    failedAttempts: row?.failed_attempts ?? 0,
  };
}
