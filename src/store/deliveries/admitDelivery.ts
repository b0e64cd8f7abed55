import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { AdmissionBatch } from "./admissionBatch.js";
import { checkLoopGuard } from "./checkLoopGuard.js";
import { checkQuotas, type QuotaRefusal } from "./checkQuotas.js";
import type { DeliveryDraft } from "./deliveryDraft.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { deliveryOfDraft } from "./deliveryOfDraft.js";
import { isDead } from "./deliveryState.js";
import { insertDelivery } from "./insertDelivery.js";
import { mustRead } from "./moveDelivery.js";
import { queueLocalInput } from "./queueLocalInput.js";
import { lanePosition, readDeliveryByKey, readOpenDeliveryByDigest } from "./readDelivery.js";
import { reopenDelivery } from "./reopenDelivery.js";
import type { StoredDelivery } from "./storedDelivery.js";

/** What became of a message that asked to be admitted. */
export type Admission =
  | {
      readonly kind: "accepted";
      readonly delivery: StoredDelivery;
      /** Place in the lane, 1 is next. */
      readonly position: number;
      readonly effects: DeliveryEffects;
    }
  | { readonly kind: "replayed"; readonly delivery: StoredDelivery; readonly position: number }
  | {
      readonly kind: "refused";
      readonly reason: "KEY_CONFLICT" | "LOOP_GUARD" | QuotaRefusal;
      /** Wait before a retry, milliseconds, where it is known. */
      readonly retryAfterMs?: number;
    };

/** Admits a message: key, loop guard, quotas, the row and (for an agent of this gateway) its input, in one transaction. */
export const admitDelivery = defineCommand({
  name: "delivery.admit",
  run: (tx: Tx, draft: DeliveryDraft): Admission => {
    const batch = new AdmissionBatch(tx, 1, draft.now);
    const admission = admit(tx, batch, draft);
    batch.finish();
    return admission;
  },
});

/** What became of one message of a batch: `heldBack` after an earlier one for the same recipient was not accepted. */
export type BatchAdmission = Admission | { readonly kind: "heldBack" };

/**
 * Admits messages in their order in one transaction. After one that was refused, later ones for the same recipient are held
 * back, so that they cannot overtake it.
 */
export const admitDeliveries = defineCommand({
  name: "delivery.admit_batch",
  run: (tx: Tx, drafts: readonly DeliveryDraft[]): readonly BatchAdmission[] => {
    const refused = new Set<string>();
    const batch = new AdmissionBatch(tx, drafts.length, drafts[0]?.now ?? 0);
    const admissions = drafts.map((draft): BatchAdmission => {
      const recipient = `${draft.recipientGateway}/${draft.recipientAgent}`;
      if (refused.has(recipient)) return { kind: "heldBack" };
      const admission = admit(tx, batch, draft);
      if (admission.kind === "refused") refused.add(recipient);
      return admission;
    });
    batch.finish();
    return admissions;
  },
});

function admit(tx: Tx, batch: AdmissionBatch, draft: DeliveryDraft): Admission {
  const found = findByKey(tx, draft);
  if (found !== undefined) {
    batch.forgetCounts();
    return replay(tx, found, draft);
  }
  const retryAfterMs = checkLoopGuard(tx, draft);
  if (retryAfterMs !== undefined) return { kind: "refused", reason: "LOOP_GUARD", retryAfterMs };
  const quota = checkQuotas(batch, draft);
  if ("refusal" in quota) return { kind: "refused", reason: quota.refusal };
  const effects = noEffects();
  const delivery = deliveryOfDraft(batch, draft);
  const { recipientChat: chat, attribution, now } = draft;
  if (chat !== undefined) queueLocalInput(tx, { delivery, chat, attribution, now }, effects, batch);
  insertDelivery(tx, delivery, draft.bodyBytes);
  batch.noteQueued(draft.sender.id, draft.recipientGateway, draft.recipientAgent, draft.bodyBytes);
  effects.changed.push(delivery.deliveryId);
  return { kind: "accepted", delivery, position: quota.position, effects };
}

function findByKey(tx: Tx, draft: DeliveryDraft): StoredDelivery | undefined {
  return draft.key === ""
    ? readOpenDeliveryByDigest(tx, draft.principalScope, draft.digest)
    : readDeliveryByKey(tx, draft.principalScope, draft.key);
}

function replay(tx: Tx, found: StoredDelivery, draft: DeliveryDraft): Admission {
  if (Buffer.compare(found.digest, draft.digest) !== 0) return { kind: "refused", reason: "KEY_CONFLICT" };
  if (draft.attemptEpoch > found.attemptEpoch && draft.recipientChat !== undefined && isDead(found.state)) {
    const effects = noEffects();
    const { recipientChat: chat, attribution, attemptEpoch, expiresAt, body, bodyBytes, hops, now } = draft;
    const hop = { gateway: draft.gateway, acceptedAt: now, attempt: draft.attempt, deliveryId: found.deliveryId };
    const delivery = reopenDelivery(
      tx,
      found,
      { attemptEpoch, expiresAt, body, bodyBytes, hops: [...hops, hop], chat, attribution, now },
      effects,
    );
    return { kind: "accepted", delivery, position: lanePosition(tx, delivery), effects };
  }
  if (draft.attemptEpoch > found.attemptEpoch) {
    // The sender opened an epoch for a message that had not failed here: what became of it answers the later epoch too.
    tx.run("UPDATE deliveries SET attempt_epoch = ? WHERE sequence = ?", draft.attemptEpoch, found.sequence);
  }
  const delivery = mustRead(tx, found.deliveryId);
  return { kind: "replayed", delivery, position: lanePosition(tx, delivery) };
}
