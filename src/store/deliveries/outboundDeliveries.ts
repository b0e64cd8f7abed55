import type { Queryable } from "../sql.js";
import type { StoredAuthor } from "../turns/storedAuthor.js";
import type { DeliveryRow, StoredDelivery, StoredHop } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";

/** The first waiting delivery of a recipient of another gateway. */
export interface LaneHead {
  readonly recipientAgent: string;
  /** Not to be tried before, epoch milliseconds; undefined = at once. */
  readonly nextAttemptAt: number | undefined;
}

/**
 * The head of each lane of another gateway: those that may be tried at once first, in the order of their places, then the others by
 * their time. Costs a few look-ups in the index for each recipient, however much waits behind the first.
 */
export function laneHeads(from: Queryable, gateway: string, limit: number): readonly LaneHead[] {
  return from
    .all<{ recipient_agent: string; next_attempt_at: number | null }>(
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
       SELECT recipient_agent, next_attempt_at FROM heads JOIN deliveries ON deliveries.sequence = head
       ORDER BY COALESCE(next_attempt_at, 0), lane_place LIMIT ?2`,
      gateway,
      limit,
    )
    .map((row) => ({ recipientAgent: row.recipient_agent, nextAttemptAt: row.next_attempt_at ?? undefined }));
}

/** What an attempt at a waiting message needs of it: a third of its columns, because a backlog reads it with every message. */
export type WaitingMessage = Pick<
  StoredDelivery,
  | "deliveryId"
  | "recipientGateway"
  | "recipientAgent"
  | "body"
  | "inReplyTo"
  | "depth"
  | "attemptEpoch"
  | "attempts"
  | "undecided"
  | "nextAttemptAt"
  | "expiresAt"
  | "hops"
  | "traceparent"
  | "tracestate"
> & { readonly sender: Pick<StoredAuthor, "id" | "displayName"> };

type WaitingRow = Pick<
  DeliveryRow,
  | "delivery_id"
  | "author_id"
  | "author_name"
  | "body"
  | "in_reply_to"
  | "depth"
  | "attempt_epoch"
  | "attempts"
  | "undecided"
  | "next_attempt_at"
  | "expires_at"
  | "hops"
  | "traceparent"
  | "tracestate"
>;

/** What waits for a recipient of another gateway, in its order. */
export function laneOf(from: Queryable, gateway: string, agent: string, limit: number): readonly WaitingMessage[] {
  return from
    .all<WaitingRow>(
      `SELECT delivery_id, author_id, author_name, body, in_reply_to, depth, attempt_epoch, attempts, undecided,
         next_attempt_at, expires_at, hops, traceparent, tracestate
       FROM deliveries WHERE recipient_gateway = ? AND recipient_agent = ? AND state = 'queued'
       ORDER BY lane_place LIMIT ?`,
      gateway,
      agent,
      limit,
    )
    .map((row) => ({
      deliveryId: row.delivery_id,
      recipientGateway: gateway,
      recipientAgent: agent,
      sender: { id: row.author_id, displayName: row.author_name },
      body: row.body ?? undefined,
      inReplyTo: row.in_reply_to,
      depth: row.depth,
      attemptEpoch: row.attempt_epoch,
      attempts: row.attempts,
      undecided: row.undecided === 1,
      nextAttemptAt: row.next_attempt_at ?? undefined,
      expiresAt: row.expires_at,
      hops: JSON.parse(row.hops) as StoredHop[],
      traceparent: row.traceparent,
      tracestate: row.tracestate,
    }));
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
