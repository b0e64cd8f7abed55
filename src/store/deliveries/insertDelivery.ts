import type { Tx } from "../sql.js";
import { authorValues } from "../turns/storedAuthor.js";
import type { StoredDelivery } from "./storedDelivery.js";

/** Writes the row of a fresh delivery. @param bodyBytes size of its body, bytes of UTF-8 */
export function insertDelivery(tx: Tx, delivery: StoredDelivery, bodyBytes: number): void {
  tx.run(
    `INSERT INTO deliveries (sequence, delivery_id, lane_place, principal_scope, key, digest, state, route,
       author_kind, author_id, author_name, author_sent_by, sender_session_id, started_by, target,
       recipient_gateway, recipient_agent, recipient_name, body, body_bytes, body_code_points, in_reply_to, depth,
       attempt_epoch, attempts, created_at, expires_at, hops, traceparent, tracestate, input_id, receipt_sequence,
       updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    delivery.sequence,
    delivery.deliveryId,
    delivery.lanePlace,
    delivery.principalScope,
    delivery.key,
    delivery.digest,
    delivery.route,
    ...authorValues(delivery.sender),
    delivery.senderSessionId ?? null,
    delivery.startedBy,
    delivery.target,
    delivery.recipientGateway,
    delivery.recipientAgent,
    delivery.recipientName,
    delivery.body ?? null,
    bodyBytes,
    delivery.bodyCodePoints,
    delivery.inReplyTo,
    delivery.depth,
    delivery.attemptEpoch,
    delivery.attempts,
    delivery.createdAt,
    delivery.expiresAt,
    JSON.stringify(delivery.hops),
    delivery.traceparent,
    delivery.tracestate,
    delivery.inputId ?? null,
    delivery.receiptSequence ?? null,
    delivery.updatedAt,
  );
}
