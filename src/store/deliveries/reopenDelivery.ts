import type { Tx } from "../sql.js";
import type { BotChatDraft } from "./deliveryDraft.js";
import type { DeliveryEffects } from "./deliveryEffects.js";
import { mustRead, moveDelivery } from "./moveDelivery.js";
import { nextCounter } from "./nextCounter.js";
import { queueLocalInput } from "./queueLocalInput.js";
import type { StoredDelivery, StoredHop } from "./storedDelivery.js";

/** What the next attempt epoch of a dead letter starts from. */
export interface ReopenDetails {
  readonly attemptEpoch: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly body: string;
  readonly bodyBytes: number;
  readonly hops: readonly StoredHop[];
  /** The recipient's `Bot Chat`, where it is an agent of this gateway. */
  readonly chat?: BotChatDraft;
  /** Line that names the sender. */
  readonly attribution: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Opens the next attempt epoch of a dead letter: queued again, last in its lane. @throws Error for any other delivery. */
export function reopenDelivery(
  tx: Tx,
  dead: StoredDelivery,
  details: ReopenDetails,
  effects: DeliveryEffects,
): StoredDelivery {
  const { attemptEpoch, expiresAt, body, bodyBytes, hops, chat, attribution, now } = details;
  const moved = moveDelivery(tx, dead, "redrive", { now }, effects);
  if (moved === undefined) throw new Error(`delivery ${dead.deliveryId} is ${dead.state}, not dead`);
  tx.run(
    `UPDATE deliveries SET attempt_epoch = ?, attempts = ?, undecided = 0, last_error = NULL, expires_at = ?, body = ?,
       body_bytes = ?, hops = ?, lane_place = ?, told_at = NULL, told_input_id = NULL, told_count = 0, input_id = NULL,
       execution_id = NULL, retry_mode = NULL, retried_execution_id = NULL
     WHERE sequence = ?`,
    attemptEpoch,
    chat === undefined ? 0 : 1,
    expiresAt,
    body,
    bodyBytes,
    JSON.stringify(hops),
    nextCounter(tx, "lane"),
    dead.sequence,
  );
  if (chat !== undefined) {
    const inputId = queueLocalInput(tx, { delivery: mustRead(tx, dead.deliveryId), chat, attribution, now }, effects);
    tx.run("UPDATE deliveries SET input_id = ? WHERE sequence = ?", inputId, dead.sequence);
  }
  return mustRead(tx, dead.deliveryId);
}
