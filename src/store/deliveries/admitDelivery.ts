import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { ensureBotChat } from "../turns/ensureBotChat.js";
import { authorValues } from "../turns/storedAuthor.js";
import { checkLoopGuard } from "./checkLoopGuard.js";
import { checkQuotas, type QuotaRefusal } from "./checkQuotas.js";
import type { DeliveryDraft } from "./deliveryDraft.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { isDead } from "./deliveryState.js";
import { mustRead } from "./moveDelivery.js";
import { nextCounter } from "./nextCounter.js";
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
export const admitDelivery = defineCommand({ name: "delivery.admit", run: admit });

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
    return drafts.map((draft) => {
      const recipient = `${draft.recipientGateway}/${draft.recipientAgent}`;
      if (refused.has(recipient)) return { kind: "heldBack" };
      const admission = admit(tx, draft);
      if (admission.kind === "refused") refused.add(recipient);
      return admission;
    });
  },
});

/** {@link admitDelivery} inside a transaction that is open already. */
export function admit(tx: Tx, draft: DeliveryDraft): Admission {
  const found = findByKey(tx, draft);
  if (found !== undefined) return replay(tx, found, draft);
  const retryAfterMs = checkLoopGuard(tx, draft);
  if (retryAfterMs !== undefined) return { kind: "refused", reason: "LOOP_GUARD", retryAfterMs };
  const reason = checkQuotas(tx, draft);
  if (reason !== undefined) return { kind: "refused", reason };
  const effects = noEffects();
  insertRow(tx, draft);
  effects.changed.push(draft.deliveryId);
  if (draft.recipientChat !== undefined) {
    const { recipientChat: chat, attribution, now } = draft;
    queueLocalInput(tx, { delivery: mustRead(tx, draft.deliveryId), chat, attribution, now }, effects);
  }
  const delivery = mustRead(tx, draft.deliveryId);
  return { kind: "accepted", delivery, position: lanePosition(tx, delivery), effects };
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

function insertRow(tx: Tx, draft: DeliveryDraft): void {
  const place = nextCounter(tx, "lane");
  const here = draft.recipientChat !== undefined;
  const ownHop = {
    gateway: draft.gateway,
    acceptedAt: draft.now,
    attempt: draft.attempt,
    deliveryId: draft.deliveryId,
  };
  tx.run(
    `INSERT INTO deliveries (sequence, delivery_id, lane_place, principal_scope, key, digest, state, route,
       author_kind, author_id, author_name, author_sent_by, sender_session_id, started_by, target,
       recipient_gateway, recipient_agent, recipient_name, body, body_bytes, body_code_points, in_reply_to, depth,
       attempt_epoch, attempts, created_at, expires_at, hops, traceparent, tracestate, receipt_sequence, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    place,
    draft.deliveryId,
    place,
    draft.principalScope,
    draft.key === "" ? draft.deliveryId : draft.key,
    draft.digest,
    draft.route,
    ...authorValues(draft.sender),
    replySession(tx, draft),
    draft.startedBy,
    draft.target,
    draft.recipientGateway,
    draft.recipientAgent,
    draft.recipientName,
    draft.body,
    draft.bodyBytes,
    draft.bodyCodePoints,
    draft.inReplyTo,
    draft.depth,
    draft.attemptEpoch,
    here ? 1 : 0,
    draft.now,
    draft.expiresAt,
    JSON.stringify([...draft.hops, ownHop]),
    draft.traceparent,
    draft.tracestate,
    draft.route === "peer_inbound" ? nextCounter(tx, "receipt") : null,
    draft.now,
  );
}

function replySession(tx: Tx, { replyTo, now }: DeliveryDraft): string | null {
  if (replyTo === undefined) return null;
  return replyTo.kind === "session" ? replyTo.sessionId : ensureBotChat(tx, { ...replyTo.chat, now });
}
