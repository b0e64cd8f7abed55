import type { Queryable } from "../sql.js";
import type { DeliveryRow, StoredDelivery } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";

/** Messages that were handed to a connector and of which nobody here knows whether it accepted them, in the order of their lanes. */
export function handedOutTo(from: Queryable, connector: string): readonly StoredDelivery[] {
  return from
    .all<DeliveryRow>(
      `SELECT * FROM deliveries
       WHERE recipient_gateway = ? AND route = 'relay_outbound' AND state = 'queued' AND undecided = 1
       ORDER BY lane_place`,
      connector,
    )
    .map(deliveryFromRow);
}

/**
 * The first waiting message of each recipient behind a connector that has not been handed out, in the order of their places: a
 * lane whose first message is handed out waits for its fate. Costs a few look-ups in the index for each recipient.
 */
export function relayLaneHeads(from: Queryable, connector: string, limit: number): readonly StoredDelivery[] {
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
       WHERE undecided = 0 AND route = 'relay_outbound' ORDER BY lane_place LIMIT ?2`,
      connector,
      limit,
    )
    .map(deliveryFromRow);
}

/** The last place that was given to a receipt; 0 before the first. */
export function lastReceiptPlace(from: Queryable): number {
  return from.get<{ value: number }>("SELECT receipt AS value FROM delivery_counters WHERE one = 1")?.value ?? 0;
}
