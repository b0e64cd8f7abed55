import { defineCommand } from "../command.js";
import type { StoredFailure } from "../storedFailure.js";
import type { Tx } from "../sql.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { moveDelivery } from "./moveDelivery.js";
import type { DeliveryRow } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";
import { loseFar } from "./sweepDeliveries.js";

/** Rows of one call, so that it does not hold the writer. */
const ROWS = 256;

const PEER_GONE: StoredFailure = {
  reason: "PEER_REVOKED",
  message: "The pairing with the recipient's gateway was ended before the message was accepted there.",
  hint: "Pair again and send it again, if the gateway is to be trusted again.",
  retryable: false,
};

/** What one call did. */
export interface EndRevokedResult {
  readonly effects: DeliveryEffects;
  /** Whether more are left. */
  readonly more: boolean;
}

/**
 * Ends the messages to a gateway that is no longer a peer, so that none goes to another one that gets its name: what was never
 * accepted there has failed, what may have been is UNKNOWN.
 */
export const endRevokedDeliveries = defineCommand({
  name: "delivery.end_revoked",
  run: (tx: Tx, { gateway, now }: { readonly gateway: string; readonly now: number }): EndRevokedResult => {
    const effects = noEffects();
    const open = tx
      .all<DeliveryRow>(
        `SELECT * FROM deliveries INDEXED BY deliveries_expiry WHERE recipient_gateway = ? AND route IN ('peer_outbound', 'relay_outbound')
           AND ended_at IS NULL ORDER BY sequence LIMIT ?`,
        gateway,
        ROWS,
      )
      .map(deliveryFromRow);
    for (const delivery of open) {
      if (delivery.state === "queued" && !delivery.undecided) {
        moveDelivery(tx, delivery, "fail", { now, failure: PEER_GONE }, effects);
      } else loseFar(tx, delivery, now, effects);
    }
    return { effects, more: open.length === ROWS };
  },
});
