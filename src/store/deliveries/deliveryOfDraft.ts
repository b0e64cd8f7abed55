import type { AdmissionBatch } from "./admissionBatch.js";
import type { DeliveryDraft } from "./deliveryDraft.js";
import { deliveryInputId } from "./deliveryInputId.js";
import type { StoredDelivery } from "./storedDelivery.js";

/** The delivery that a draft becomes, with its places taken and the session that is told of its end. */
export function deliveryOfDraft(batch: AdmissionBatch, draft: DeliveryDraft): StoredDelivery {
  const { deliveryId, now, attempt, attemptEpoch } = draft;
  const lane = batch.takePlace();
  return {
    sequence: lane,
    deliveryId,
    lanePlace: lane,
    principalScope: draft.principalScope,
    key: draft.key === "" ? deliveryId : draft.key,
    digest: draft.digest,
    state: "queued",
    route: draft.route,
    sender: draft.sender,
    senderSessionId: replySession(batch, draft),
    startedBy: draft.startedBy,
    target: draft.target,
    recipientGateway: draft.recipientGateway,
    recipientAgent: draft.recipientAgent,
    recipientName: draft.recipientName,
    body: draft.body,
    bodyCodePoints: draft.bodyCodePoints,
    inReplyTo: draft.inReplyTo,
    depth: draft.depth,
    attemptEpoch,
    attempts: draft.recipientChat === undefined ? 0 : 1,
    undecided: false,
    nextAttemptAt: undefined,
    lastError: undefined,
    createdAt: now,
    expiresAt: draft.expiresAt,
    claimedAt: undefined,
    endedAt: undefined,
    reply: undefined,
    failure: undefined,
    hops: [...draft.hops, { gateway: draft.gateway, acceptedAt: now, attempt, deliveryId }],
    toldAt: undefined,
    toldInputId: undefined,
    toldCount: 0,
    traceparent: draft.traceparent,
    tracestate: draft.tracestate,
    inputId:
      draft.recipientChat === undefined ? undefined : deliveryInputId({ deliveryId, attemptEpoch, createdAt: now }),
    executionId: undefined,
    retry: undefined,
    revision: 1,
    // The answer that accepts it says what a receipt would.
    receiptSequence: undefined,
    updatedAt: now,
  };
}

function replySession(batch: AdmissionBatch, { replyTo }: DeliveryDraft): string | undefined {
  if (replyTo === undefined) return undefined;
  return replyTo.kind === "session" ? replyTo.sessionId : batch.chatOf(replyTo.chat);
}
