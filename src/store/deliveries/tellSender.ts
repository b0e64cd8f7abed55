import { digestOf } from "../../base/digest.js";
import type { Tx } from "../sql.js";
import { insertInput } from "../turns/insertInput.js";
import { GATEWAY_AUTHOR, type StoredAuthor } from "../turns/storedAuthor.js";
import { agentAuthorId, agentHandle } from "./authorIds.js";
import type { DeliveryEffects } from "./deliveryEffects.js";
import { derivedInputId } from "./derivedId.js";
import { noticeText } from "./noticeText.js";
import type { StoredDelivery } from "./storedDelivery.js";

/**
 * Tells the sending session how a delivery ended, as an input of that session: the reply in the recipient's name, any
 * other end as a notice in the gateway's. Nobody is told where no session of this gateway sent it.
 */
export function tellSender(tx: Tx, delivery: StoredDelivery, now: number, effects: DeliveryEffects): StoredDelivery {
  const sessionId = delivery.senderSessionId;
  if (sessionId === undefined || !sessionExists(tx, sessionId)) return delivery;
  const requestId = `${delivery.deliveryId}.${String(delivery.attemptEpoch)}.told.${String(delivery.toldCount + 1)}`;
  const handle = agentHandle(delivery.recipientGateway, delivery.recipientAgent, delivery.route === "relay_outbound");
  const { reply } = delivery;
  const author = reply === undefined ? GATEWAY_AUTHOR : recipientAuthor(delivery);
  const text = noticeText(delivery, handle);
  const inputId = derivedInputId([requestId], delivery.createdAt);
  insertInput(tx, {
    inputId,
    sessionId,
    principal: author.id,
    requestScope: "delivery",
    requestId,
    digest: Buffer.from(digestOf([requestId, text]), "hex"),
    author,
    attribution: reply === undefined ? "" : `Reply from ${delivery.recipientName} (@${handle}):`,
    text,
    inReplyTo: delivery.deliveryId,
    depth: delivery.depth,
    headless: false,
    traceparent: delivery.traceparent,
    tracestate: delivery.tracestate,
    now,
  });
  tx.run(
    "UPDATE deliveries SET told_at = ?, told_input_id = ?, told_count = told_count + 1 WHERE sequence = ?",
    now,
    inputId,
    delivery.sequence,
  );
  effects.wake.push(sessionId);
  return { ...delivery, toldAt: now, toldInputId: inputId, toldCount: delivery.toldCount + 1 };
}

function recipientAuthor(delivery: StoredDelivery): StoredAuthor {
  return {
    kind:
      delivery.route === "local" ? "local_agent" : delivery.route === "peer_outbound" ? "peer_agent" : "relay_agent",
    id: agentAuthorId(delivery.recipientGateway, delivery.recipientAgent),
    displayName: delivery.recipientName,
    sentBy: "",
  };
}

function sessionExists(tx: Tx, sessionId: string): boolean {
  return tx.get("SELECT 1 AS found FROM sessions WHERE session_id = ?", sessionId) !== undefined;
}
