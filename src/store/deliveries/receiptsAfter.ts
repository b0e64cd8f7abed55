import type { Queryable } from "../sql.js";
import type { DeliveryRow, StoredDelivery } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";

/** Deliveries from a peer that changed after a place, in the order of their last change. */
export function receiptsAfter(
  from: Queryable,
  principalScope: string,
  after: number,
  limit: number,
): readonly StoredDelivery[] {
  return from
    .all<DeliveryRow>(
      `SELECT * FROM deliveries WHERE principal_scope = ? AND receipt_sequence > ?
       ORDER BY receipt_sequence LIMIT ?`,
      principalScope,
      after,
      limit,
    )
    .map(deliveryFromRow);
}
