import type { Tx } from "../sql.js";
import { ensureBotChat } from "../turns/ensureBotChat.js";
import { insertInput } from "../turns/insertInput.js";
import type { BotChatDraft } from "./deliveryDraft.js";
import type { DeliveryEffects } from "./deliveryEffects.js";
import { derivedInputId } from "./derivedId.js";
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
 * @returns the delivery with its input, which the caller writes down
 */
export function queueLocalInput(tx: Tx, request: LocalInputRequest, effects: DeliveryEffects): StoredDelivery {
  const { delivery, chat, attribution, now } = request;
  const sessionId = ensureBotChat(tx, { ...chat, now });
  const requestId = `${delivery.deliveryId}.${String(delivery.attemptEpoch)}`;
  const inputId = derivedInputId([requestId], delivery.createdAt);
  insertInput(tx, {
    inputId,
    sessionId,
    principal: delivery.sender.id,
    requestScope: "delivery",
    requestId,
    digest: delivery.digest,
    author: delivery.sender,
    attribution,
    text: delivery.body ?? "",
    deliveryId: delivery.deliveryId,
    ...(delivery.inReplyTo === "" ? {} : { inReplyTo: delivery.inReplyTo }),
    depth: delivery.depth,
    headless: false,
    traceparent: delivery.traceparent,
    tracestate: delivery.tracestate,
    now,
  });
  effects.wake.push(sessionId);
  return { ...delivery, inputId };
}
