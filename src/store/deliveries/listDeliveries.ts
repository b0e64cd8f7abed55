import type { Queryable, SqlValue } from "../sql.js";
import type { DeliveryState } from "./deliveryState.js";
import type { DeliveryRow, StoredDelivery } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";

/** Which deliveries to list, newest first; absent filters match all. */
export interface DeliveryFilter {
  /** Only older ones than this place; absent starts at the newest. */
  readonly beforeSequence?: number;
  /** Most rows. */
  readonly limit: number;
  readonly states?: readonly DeliveryState[];
  /** Only to or from this agent of this gateway. */
  readonly agent?: string;
  /** Only those whose key is unique among this principal's. */
  readonly scope?: string;
  /** Only to or from this peer or connector. */
  readonly gateway?: string;
}

/** Lists deliveries, newest first. */
export function listDeliveries(from: Queryable, filter: DeliveryFilter): readonly StoredDelivery[] {
  const { beforeSequence, limit, states = [], agent = "", gateway = "", scope = "" } = filter;
  const conditions: string[] = ["1 = 1"];
  const values: SqlValue[] = [];
  if (beforeSequence !== undefined) {
    conditions.push("sequence < ?");
    values.push(beforeSequence);
  }
  if (states.length > 0) {
    conditions.push(`state IN (${states.map(() => "?").join(", ")})`);
    values.push(...states);
  }
  if (agent !== "") {
    conditions.push("(author_id = ? OR (recipient_gateway = '' AND recipient_agent = ?))");
    values.push(`agent:${agent}`, agent);
  }
  if (gateway !== "") {
    conditions.push("(recipient_gateway = ? OR principal_scope = ?)");
    values.push(gateway, `peer:${gateway}`);
  }
  if (scope !== "") {
    conditions.push("principal_scope = ?");
    values.push(scope);
  }
  return from
    .all<DeliveryRow>(
      `SELECT * FROM deliveries WHERE ${conditions.join(" AND ")} ORDER BY sequence DESC LIMIT ?`,
      ...values,
      limit,
    )
    .map(deliveryFromRow);
}
