import type { Tx } from "../sql.js";
import type { InputDraft } from "./inputDraft.js";
import { authorValues } from "./storedAuthor.js";
import { touchSession } from "./touchSession.js";

/** Where a queued input stands. */
export interface QueuedInput {
  readonly inputId: string;
  /** Place in the session's queue, 1 is next. */
  readonly position: number;
}

/** Queues an input at the end of its session's lane. Every input, of a client or of a message, comes in here. */
export function insertInput(tx: Tx, draft: InputDraft): QueuedInput {
  tx.run(
    `INSERT INTO inputs (input_id, session_id, principal, request_scope, request_id, digest, state,
       author_kind, author_id, author_name, author_sent_by, attribution, text, headless, delivery_id, in_reply_to, depth,
       traceparent, tracestate, queued_at)
     VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
    draft.traceparent,
    draft.tracestate,
    draft.now,
  );
  tx.run("UPDATE turn_totals SET admitted = admitted + 1");
  touchSession(tx, draft.sessionId, draft.now);
  const row = tx.get<{ position: number }>(
    "SELECT COUNT(*) AS position FROM inputs WHERE session_id = ? AND state = 'queued'",
    draft.sessionId,
  );
  return { inputId: draft.inputId, position: row?.position ?? 1 };
}
