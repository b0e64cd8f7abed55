import type { Tx } from "../sql.js";
import { ensureBotChat } from "../turns/ensureBotChat.js";
import type { InputDraft } from "../turns/inputDraft.js";
import { insertInput, insertInputRow } from "../turns/insertInput.js";
import type { AdmissionBatch } from "./admissionBatch.js";
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
 * @param batch where the input is one of several of a command. @returns the delivery with its input, which the caller writes down
 */
export function queueLocalInput(
  tx: Tx,
  request: LocalInputRequest,
  effects: DeliveryEffects,
  batch?: AdmissionBatch,
): StoredDelivery {
  const { delivery, chat, attribution, now } = request;
  const sessionId = batch?.chatOf(chat) ?? ensureBotChat(tx, { ...chat, now });
  const requestId = `${delivery.deliveryId}.${String(delivery.attemptEpoch)}`;
  const inputId = inputIdOf(delivery, requestId);
  const draft: InputDraft = {
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
  };
  if (batch === undefined) insertInput(tx, draft);
  else {
    insertInputRow(tx, draft);
    batch.noteInput(sessionId);
  }
  effects.wake.push(sessionId);
  return { ...delivery, inputId };
}

/** The first epoch's input bears its delivery's id, which is as unique; later ones are derived. */
function inputIdOf({ deliveryId, attemptEpoch, createdAt }: StoredDelivery, requestId: string): string {
  const own = attemptEpoch === 1 && deliveryId.startsWith(DELIVERY_PREFIX);
  return own ? `inp_${deliveryId.slice(DELIVERY_PREFIX.length)}` : derivedInputId([requestId], createdAt);
}

const DELIVERY_PREFIX = "del_";
