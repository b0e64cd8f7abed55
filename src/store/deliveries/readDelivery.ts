import type { Queryable } from "../sql.js";
import type { DeliveryRow, StoredDelivery } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";

/** The delivery with an id, or undefined. */
export function readDelivery(from: Queryable, deliveryId: string): StoredDelivery | undefined {
  return optional(from.get<DeliveryRow>("SELECT * FROM deliveries WHERE delivery_id = ?", deliveryId));
}

/** Whose keys a delivery's is among, or undefined where there is none with that id. */
export function readPrincipalScope(from: Queryable, deliveryId: string): string | undefined {
  return from.get<{ scope: string }>(
    "SELECT principal_scope AS scope FROM deliveries WHERE delivery_id = ?",
    deliveryId,
  )?.scope;
}

/** The delivery that a key names in its scope, or undefined. */
export function readDeliveryByKey(from: Queryable, scope: string, key: string): StoredDelivery | undefined {
  return optional(from.get<DeliveryRow>("SELECT * FROM deliveries WHERE principal_scope = ? AND key = ?", scope, key));
}

/** The latest delivery of a digest in its scope that did not come from elsewhere and has not ended, or undefined. */
export function readOpenDeliveryByDigest(
  from: Queryable,
  scope: string,
  digest: Uint8Array,
): StoredDelivery | undefined {
  return optional(
    from.get<DeliveryRow>(
      `SELECT * FROM deliveries WHERE principal_scope = ? AND digest = ? AND ended_at IS NULL
         AND route IN ('local', 'peer_outbound', 'relay_outbound')
       ORDER BY sequence DESC LIMIT 1`,
      scope,
      digest,
    ),
  );
}

/** Place of a delivery in its recipient's lane: 1 is next, 0 when it does not wait. */
export function lanePosition(from: Queryable, delivery: StoredDelivery): number {
  if (delivery.state !== "queued") return 0;
  const row = from.get<{ before: number }>(
    `SELECT COUNT(*) AS before FROM deliveries
     WHERE recipient_gateway = ? AND recipient_agent = ? AND state = 'queued' AND lane_place < ?`,
    delivery.recipientGateway,
    delivery.recipientAgent,
    delivery.lanePlace,
  );
  return (row?.before ?? 0) + 1;
}

function optional(row: DeliveryRow | undefined): StoredDelivery | undefined {
  return row === undefined ? undefined : deliveryFromRow(row);
}
