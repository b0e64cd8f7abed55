import type { Tx } from "../sql.js";
import type { InputDraft } from "./inputDraft.js";
import { authorValues } from "./storedAuthor.js";
import { touchSession } from "./touchSession.js";

/** Queues an input at the end of its session's lane. Every input, of a client or of a message, comes in here. */
export function insertInput(tx: Tx, draft: InputDraft): void {
  insertInputRow(tx, draft);
  tx.run("UPDATE turn_totals SET admitted = admitted + 1 WHERE one = 1");
  touchSession(tx, draft.sessionId, draft.now);
}

/** Writes an input's row; the caller counts it and touches its session, once for as many as it writes. */
export function insertInputRow(tx: Tx, draft: InputDraft): void {
  tx.run(
    `INSERT INTO inputs (input_id, session_id, principal, request_scope, request_id, digest, state,
       author_kind, author_id, author_name, author_sent_by, attribution, text, headless, delivery_id, in_reply_to, depth,
       from_message, traceparent, tracestate, queued_at)
     VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    draft.inputId,
    draft.sessionId,
    draft.principal,
    draft.requestScope,
    draft.requestId,
    draft.digest,
    ...authorValues(draft.author),
    draft.attribution,
    draft.text,
    draft.headless ? 1 : 0,
    draft.deliveryId ?? null,
    draft.inReplyTo ?? null,
    draft.depth,
    draft.fromMessage === true || draft.deliveryId !== undefined || draft.inReplyTo !== undefined ? 1 : 0,
    draft.traceparent,
    draft.tracestate,
    draft.now,
  );
}
