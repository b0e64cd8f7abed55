import type { Tx } from "../sql.js";
import type { DeliveryDraft } from "./deliveryDraft.js";

/** A quota that a message would exceed; names of the reason registry. */
export type QuotaRefusal = "SENDER_QUOTA" | "RECIPIENT_QUOTA" | "HOME_QUOTA";

/** The first quota that one more message would exceed, or undefined. */
export function checkQuotas(tx: Tx, draft: DeliveryDraft): QuotaRefusal | undefined {
  const { bounds, recipientGateway, recipientAgent } = draft;
  const bySender = countUpTo(
    tx,
    `SELECT COUNT(*) AS count FROM (SELECT 1 FROM deliveries
       WHERE author_id = ? AND recipient_gateway = ? AND recipient_agent = ? AND state = 'queued' LIMIT ?)`,
    draft.sender.id,
    recipientGateway,
    recipientAgent,
    bounds.queuedPerRecipientAndSender,
  );
  if (bySender >= bounds.queuedPerRecipientAndSender) return "SENDER_QUOTA";
  const byRecipient = countUpTo(
    tx,
    `SELECT COUNT(*) AS count FROM (SELECT 1 FROM deliveries
       WHERE recipient_gateway = ? AND recipient_agent = ? AND state = 'queued' LIMIT ?)`,
    recipientGateway,
    recipientAgent,
    bounds.queuedPerRecipient,
  );
  if (byRecipient >= bounds.queuedPerRecipient) return "RECIPIENT_QUOTA";
  if (total(tx, "queued") >= bounds.queuedPerHome) return "HOME_QUOTA";
  if (total(tx, "body_bytes") + draft.bodyBytes > bounds.bodyBytesPerHome) return "HOME_QUOTA";
  return undefined;
}

function countUpTo(tx: Tx, sql: string, ...values: (string | number)[]): number {
  return tx.get<{ count: number }>(sql, ...values)?.count ?? 0;
}

function total(tx: Tx, name: string): number {
  return tx.get<{ value: number }>("SELECT value FROM delivery_totals WHERE name = ?", name)?.value ?? 0;
}
