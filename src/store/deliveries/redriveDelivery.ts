import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import type { BotChatDraft } from "./deliveryDraft.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { isDead } from "./deliveryState.js";
import { readDelivery } from "./readDelivery.js";
import { reopenDelivery } from "./reopenDelivery.js";
import type { StoredDelivery } from "./storedDelivery.js";

/** What came of a wish to send a dead letter again. */
export type Redrive =
  | { readonly kind: "redriven"; readonly delivery: StoredDelivery; readonly effects: DeliveryEffects }
  /** It is no dead letter of this gateway, or its body is no longer kept. */
  | { readonly kind: "notDead"; readonly delivery: StoredDelivery }
  | { readonly kind: "missing" };

/** Which dead letter to send again. Times are epoch milliseconds. */
export interface RedriveRequest {
  readonly deliveryId: string;
  /** The caller's key: the same one again changes nothing. */
  readonly requestId: string;
  readonly expiresAt: number;
  /** The recipient's `Bot Chat`, where it is an agent of this gateway. */
  readonly chat?: BotChatDraft;
  /** Line that names the sender. */
  readonly attribution: string;
  readonly now: number;
}

/** Opens the next attempt epoch of a dead letter whose body is kept. */
export const redriveDelivery = defineCommand({ name: "delivery.redrive", run: redrive });

function redrive(tx: Tx, { deliveryId, requestId, expiresAt, chat, attribution, now }: RedriveRequest): Redrive {
  const delivery = readDelivery(tx, deliveryId);
  if (delivery === undefined) return { kind: "missing" };
  if (lastRedriveKey(tx, deliveryId) === requestId) return { kind: "redriven", delivery, effects: noEffects() };
  const { body } = delivery;
  if (!isDead(delivery.state) || body === undefined) return { kind: "notDead", delivery };
  const effects = noEffects();
  const reopened = reopenDelivery(
    tx,
    delivery,
    {
      attemptEpoch: delivery.attemptEpoch + 1,
      expiresAt,
      body,
      bodyBytes: Buffer.byteLength(body, "utf8"),
      hops: delivery.hops.slice(0, 1),
      ...(chat === undefined ? {} : { chat }),
      attribution,
      now,
    },
    effects,
  );
  tx.run("UPDATE deliveries SET redrive_key = ? WHERE delivery_id = ?", requestId, deliveryId);
  return { kind: "redriven", delivery: reopened, effects };
}

function lastRedriveKey(tx: Tx, deliveryId: string): string | undefined {
  const row = tx.get<{ redriveKey: string | null }>(
    "SELECT redrive_key AS redriveKey FROM deliveries WHERE delivery_id = ?",
    deliveryId,
  );
  return row?.redriveKey ?? undefined;
}
