import type { AdmissionBatch } from "./admissionBatch.js";
import type { DeliveryDraft } from "./deliveryDraft.js";

/** A quota that a message would exceed; names of the reason registry. */
export type QuotaRefusal = "SENDER_QUOTA" | "RECIPIENT_QUOTA" | "HOME_QUOTA";

/** Whether one more message fits, and then its place in its lane, 1 is next. */
export type QuotaVerdict = { readonly position: number } | { readonly refusal: QuotaRefusal };

/** Looks for the first quota that one more message would exceed. */
export function checkQuotas(batch: AdmissionBatch, draft: DeliveryDraft): QuotaVerdict {
  const { bounds, recipientGateway, recipientAgent } = draft;
  const waiting = batch.waitingFor(recipientGateway, recipientAgent);
  const { queued, bodyBytes } = batch.load();
  // What one sender has waiting is part of what waits, so most lanes need no second count.
  if (waiting >= bounds.queuedPerRecipientAndSender) {
    const bySender = batch.waitingFrom(draft.sender.id, recipientGateway, recipientAgent);
    if (bySender >= bounds.queuedPerRecipientAndSender) return { refusal: "SENDER_QUOTA" };
  }
  if (waiting >= bounds.queuedPerRecipient) return { refusal: "RECIPIENT_QUOTA" };
  const full = queued >= bounds.queuedPerHome || bodyBytes + draft.bodyBytes > bounds.bodyBytesPerHome;
  return full ? { refusal: "HOME_QUOTA" } : { position: waiting + 1 };
}
