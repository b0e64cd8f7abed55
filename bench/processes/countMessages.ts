import { readDeliveryTotals, type DeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import type { Reader } from "../../src/store/reader.js";

/** What a home holds of the messages that it was sent. */
export interface MessageCounts extends DeliveryTotals {
  /** Rows on disk. */
  readonly rows: number;
  /** Bodies that differ: each message bears a number of its own, so that a message that came twice is seen. */
  readonly different: number;
  /** Inputs that the messages became. */
  readonly inputs: number;
  /** Messages that lie before an earlier one of the same recipient, by the numbers that begin the bodies. */
  readonly misordered: number;
}

/** Counts the messages on disk. */
export function countMessages(reader: Reader): MessageCounts {
  const rows = reader.get<Omit<MessageCounts, keyof DeliveryTotals>>(
    `SELECT COUNT(*) AS rows, COUNT(DISTINCT number) AS different,
       (SELECT COUNT(*) FROM inputs WHERE delivery_id IS NOT NULL) AS inputs,
       COUNT(*) FILTER (WHERE number < before) AS misordered
     FROM (SELECT CAST(body AS INTEGER) AS number,
             LAG(CAST(body AS INTEGER)) OVER (PARTITION BY recipient_agent ORDER BY lane_place) AS before
           FROM deliveries)`,
  );
  if (rows === undefined) throw new Error("the store counts nothing");
  return { ...readDeliveryTotals(reader), ...rows };
}
