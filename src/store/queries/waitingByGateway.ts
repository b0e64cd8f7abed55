import type { Queryable } from "../sql.js";

/** Messages that a gateway has not ended. */
export interface WaitingMessages {
  readonly gateway: string;
  /** Waiting to be accepted there. */
  readonly waiting: number;
  /** Accepted there and not ended. */
  readonly claimed: number;
}

/** Counts the messages to other gateways that have not ended, for each gateway that has some. */
export function waitingByGateway(from: Queryable): readonly WaitingMessages[] {
  return from.all<{ gateway: string; waiting: number; claimed: number }>(
    `SELECT recipient_gateway AS gateway, SUM(state = 'queued') AS waiting, SUM(state = 'claimed') AS claimed
     FROM deliveries WHERE ended_at IS NULL AND recipient_gateway <> ''
     GROUP BY recipient_gateway ORDER BY recipient_gateway`,
  );
}
