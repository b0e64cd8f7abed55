import type { Queryable } from "../sql.js";
import type { DeliveryRow, StoredDelivery } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";

/** The first waiting delivery of each recipient of another gateway, in the order of their places. */
export function lanesOf(from: Queryable, gateway: string, limit: number): readonly StoredDelivery[] {
  return from
    .all<DeliveryRow>(
      `SELECT deliveries.* FROM deliveries JOIN (
         SELECT MIN(lane_place) AS head FROM deliveries
         WHERE recipient_gateway = ? AND state = 'queued' GROUP BY recipient_agent ORDER BY head LIMIT ?
       ) ON lane_place = head AND recipient_gateway = ? AND state = 'queued'
       ORDER BY lane_place`,
      gateway,
      limit,
      gateway,
    )
    .map(deliveryFromRow);
}

/** Deliveries that another gateway has accepted and not ended, oldest first, after a place. */
export function claimedBy(
  from: Queryable,
  gateway: string,
  afterSequence: number,
  limit: number,
): readonly StoredDelivery[] {
  return from
    .all<DeliveryRow>(
      `SELECT * FROM deliveries WHERE recipient_gateway = ? AND sequence > ?
         AND route IN ('peer_outbound', 'relay_outbound') AND state = 'claimed'
       ORDER BY sequence LIMIT ?`,
      gateway,
      afterSequence,
      limit,
    )
    .map(deliveryFromRow);
}
