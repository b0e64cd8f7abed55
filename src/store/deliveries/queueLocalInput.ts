import type { Tx } from "../sql.js";
import { ensureBotChat } from "../turns/ensureBotChat.js";
import type { InputDraft } from "../turns/inputDraft.js";
import { insertInput, insertInputRow } from "../turns/insertInput.js";
import type { AdmissionBatch } from "./admissionBatch.js";
import type { BotChatDraft } from "./deliveryDraft.js";
import type { DeliveryEffects } from "./deliveryEffects.js";
import { deliveryInputId, deliveryRequestId } from "./deliveryInputId.js";
import type { StoredDelivery } from "./storedDelivery.js";

/** What queues a delivery's message in its recipient's session. */
export interface LocalInputRequest {
  /** The delivery, queued, with its body. */
  readonly delivery: StoredDelivery;
  readonly chat: BotChatDraft;
  /** Line that names the sender. */
  readonly attribution: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Puts a message into the recipient's `Bot Chat`, whose queue is its lane. The text is the body, byte for byte.
 * @param batch where the input is one of several of a command. @returns the input's id, which the caller writes into the delivery
 */
export function queueLocalInput(
  tx: Tx,
  request: LocalInputRequest,
  effects: DeliveryEffects,
  batch?: AdmissionBatch,
): string {
  const { delivery, chat, attribution, now } = request;
  const sessionId = batch?.chatOf(chat) ?? ensureBotChat(tx, { ...chat, now });
  const inputId = deliveryInputId(delivery);
  const draft: InputDraft = {
    inputId,
    sessionId,
    principal: delivery.sender.id,
    requestScope: "delivery",
    requestId: deliveryRequestId(delivery.deliveryId, delivery.attemptEpoch),
    digest: delivery.digest,
    author: delivery.sender,
    attribution,
    text: delivery.body ?? "",
    deliveryId: delivery.deliveryId,
    inReplyTo: delivery.inReplyTo === "" ? undefined : delivery.inReplyTo,
    depth: delivery.depth,
    headless: false,
    traceparent: delivery.traceparent,
    tracestate: delivery.tracestate,
    now,
  };
  if (batch === undefined) insertInput(tx, draft);
  else {
    insertInputRow(tx, draft);
    batch.noteInput(sessionId);
  }
  effects.wake.push(sessionId);
  return inputId;
}
