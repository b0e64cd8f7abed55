import { QUOTAS } from "../../../base/limits.js";
import type { DeliveryDraft } from "../deliveryDraft.js";

/** What a test says of a message at least. */
type DraftFacts = Pick<DeliveryDraft, "deliveryId" | "route" | "sender" | "recipientAgent" | "expiresAt" | "now"> &
  Partial<DeliveryDraft>;

/**
 * A message as the door would have checked it, with what a test does not care about filled in: keyed by its id among its sender's keys,
 * here, the first attempt of the first epoch, in nobody's turn, under the usual bounds.
 */
export function makeDraft(facts: DraftFacts): DeliveryDraft {
  const { body = "body", deliveryId, sender, recipientAgent } = facts;
  return {
    principalScope: sender.id,
    key: deliveryId,
    digest: Buffer.alloc(32, 1),
    attribution: "",
    startedBy: "",
    target: recipientAgent,
    recipientGateway: "",
    recipientName: recipientAgent,
    body,
    bodyBytes: Buffer.byteLength(body),
    bodyCodePoints: body.length,
    inReplyTo: "",
    depth: 1,
    attemptEpoch: 1,
    attempt: 1,
    hops: [],
    traceparent: "",
    tracestate: "",
    gateway: "here",
    bounds: { ...QUOTAS, loopMessages: 20, loopWindowMs: 60_000, loopCooldownMs: 60_000 },
    ...facts,
  };
}
