import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import type { InputDraft } from "./inputDraft.js";
import { insertInput } from "./insertInput.js";
import { insertSession, type SessionDraft } from "./insertSession.js";

/** A client's input on its way in. */
export interface Admission {
  readonly input: InputDraft;
  /** The session to create for it, with the input's session id; absent where that session must exist. */
  readonly create?: SessionDraft;
  /** Attachments of the input, in order; each must be the principal's own. Default none. */
  readonly attachmentIds?: readonly string[];
  /** Most inputs that may wait in one session. */
  readonly maxQueued: number;
  /** Takes nothing that was not taken before. Default false. */
  readonly refuseNew?: boolean;
}

/** What became of an admission. */
export type AdmissionResult =
  | {
      readonly kind: "queued";
      readonly sessionId: string;
      readonly inputId: string;
      /** Place in the session's queue, 1 is next. */
      readonly position: number;
    }
  | { readonly kind: "replayed"; readonly inputId: string; readonly sessionId: string }
  | { readonly kind: "conflict" }
  | { readonly kind: "unknown_session" }
  /** The session of a child turn takes no other inputs. */
  | { readonly kind: "child_session" }
  | { readonly kind: "unknown_attachment" }
  | { readonly kind: "queue_full" }
  | { readonly kind: "refused" };

/** Queues a client's input once for each key. */
export const admitInput = defineCommand<Admission, AdmissionResult>({
  name: "turn.admit",
  run(tx, { input, create, attachmentIds = [], maxQueued, refuseNew = false }) {
    const earlier = tx.get<{ input_id: string; session_id: string; digest: Uint8Array }>(
      `SELECT input_id, session_id, digest FROM inputs
       WHERE principal = ? AND request_scope = ? AND request_id = ? AND request_scope <> 'delivery'`,
      input.principal,
      input.requestScope,
      input.requestId,
    );
    if (earlier) {
      return Buffer.compare(earlier.digest, input.digest) === 0
        ? { kind: "replayed", inputId: earlier.input_id, sessionId: earlier.session_id }
        : { kind: "conflict" };
    }
    if (refuseNew) return { kind: "refused" };
    if (!attachmentIds.every((attachmentId) => isOwn(tx, attachmentId, input.principal))) {
      return { kind: "unknown_attachment" };
    }
    if (create) insertSession(tx, create);
    else {
      const session = tx.get<{ child_depth: number }>(
        "SELECT child_depth FROM sessions WHERE session_id = ?",
        input.sessionId,
      );
      if (session === undefined) return { kind: "unknown_session" };
      if (session.child_depth > 0) return { kind: "child_session" };
    }
    const waiting = queuedCount(tx, input.sessionId);
    if (waiting >= maxQueued) return { kind: "queue_full" };
    insertInput(tx, input);
    attachmentIds.forEach((attachmentId, position) => {
      tx.run(
        "INSERT INTO input_attachments (input_id, position, attachment_id) VALUES (?, ?, ?)",
        input.inputId,
        position,
        attachmentId,
      );
      tx.run("UPDATE attachments SET used = 1 WHERE attachment_id = ?", attachmentId);
    });
    return { kind: "queued", sessionId: input.sessionId, inputId: input.inputId, position: waiting + 1 };
  },
});

function isOwn(tx: Tx, attachmentId: string, principal: string): boolean {
  const sql = "SELECT 1 FROM attachments WHERE attachment_id = ? AND principal = ?";
  return tx.get(sql, attachmentId, principal) !== undefined;
}

function queuedCount(tx: Tx, sessionId: string): number {
  const row = tx.get<{ count: number }>(
    "SELECT COUNT(*) AS count FROM inputs WHERE session_id = ? AND state = 'queued'",
    sessionId,
  );
  return row?.count ?? 0;
}
