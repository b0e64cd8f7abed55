import type { Queryable } from "../sql.js";
import type { DeliveryRow, StoredDelivery } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";

/**
 * The first waiting delivery of each recipient of another gateway, in the order of their places. Costs a few look-ups in the index
 * for each recipient, however much waits behind the first.
 */
export function lanesOf(from: Queryable, gateway: string, limit: number): readonly StoredDelivery[] {
  return from
    .all<DeliveryRow>(
      `WITH RECURSIVE recipients (agent) AS (
         SELECT MIN(recipient_agent) FROM deliveries WHERE recipient_gateway = ?1 AND state = 'queued'
         UNION ALL
         SELECT (SELECT MIN(recipient_agent) FROM deliveries
                 WHERE recipient_gateway = ?1 AND state = 'queued' AND recipient_agent > agent)
         FROM recipients WHERE agent IS NOT NULL
       ), heads (head) AS (
         SELECT (SELECT sequence FROM deliveries
                 WHERE recipient_gateway = ?1 AND state = 'queued' AND recipient_agent = agent
                 ORDER BY lane_place LIMIT 1)
         FROM recipients WHERE agent IS NOT NULL
       )
       SELECT deliveries.* FROM heads JOIN deliveries ON deliveries.sequence = head
       ORDER BY lane_place LIMIT ?2`,
      gateway,
      limit,
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
