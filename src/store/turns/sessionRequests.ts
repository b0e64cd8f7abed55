import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { appendMessages } from "./appendMessages.js";
import { insertSession } from "./insertSession.js";
import { GATEWAY_AUTHOR } from "./storedAuthor.js";
import { touchSession } from "./touchSession.js";

/** A change of a session that a caller may ask for again. */
export interface SessionRequest {
  /** Who asks. */
  readonly principal: string;
  /** The caller's key; unique for the principal and the kind of change. */
  readonly requestId: string;
  /** Digest of what is asked for, hex; other content under one key conflicts. */
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** How long a key is remembered, milliseconds. */
  readonly keepMs: number;
}

/** What became of a session request. */
export type SessionRequestOutcome =
  /** Done, or found done before (`replayed`). */
  | { readonly kind: "done"; readonly sessionId: string; readonly replayed: boolean }
  /** The key was used for something else. */
  | { readonly kind: "conflict" }
  /** There is no such session. */
  | { readonly kind: "unknown" }
  /** A turn runs. */
  | { readonly kind: "busy" };

/** A session that is about to be created. */
export interface CreateSession extends SessionRequest {
  /** A fresh id. */
  readonly sessionId: string;
  readonly agent: string;
  readonly title: string;
  readonly onUnknown: "pause" | "continue";
  /** Encoded talaria.types.v1.Policy. */
  readonly policy: Uint8Array;
}

/** Creates an ordinary session. */
export const createSession = defineCommand({
  name: "session.create",
  run: (tx, request: CreateSession): SessionRequestOutcome =>
    once(tx, "create", request, () => {
      insertSession(tx, { ...request, botChat: false });
      return { kind: "done", sessionId: request.sessionId, replayed: false };
    }),
});

/** Where a reset begins. */
export interface ResetSession extends SessionRequest {
  readonly sessionId: string;
  /** The agent's policy as it is, encoded. */
  readonly policy: Uint8Array;
  /** Text of the boundary row. */
  readonly boundary: string;
}

/** Ends a session's conversation so far: rows before the boundary are kept and no longer read by turns. */
export const resetSession = defineCommand({
  name: "session.reset",
  run: (tx, request: ResetSession): SessionRequestOutcome =>
    once(tx, "reset", request, () => {
      const { sessionId, now } = request;
      const refused = refuseBusy(tx, sessionId);
      if (refused) return refused;
      const row = appendMessages(
        tx,
        sessionId,
        [{ role: "system", text: request.boundary, author: GATEWAY_AUTHOR, boundary: true }],
        now,
      );
      tx.run(
        "UPDATE sessions SET context_from_row = ?, policy = ? WHERE session_id = ?",
        row + 1,
        request.policy,
        sessionId,
      );
      touchSession(tx, sessionId, now);
      return { kind: "done", sessionId, replayed: false };
    }),
});

/** Which session goes. */
export interface DeleteSession extends SessionRequest {
  readonly sessionId: string;
}

/**
 * Deletes a session with its inputs, transcript, executions, prompts and child sessions, for good. Queued inputs go with it and count as ended
 * without a start. A session in which an input of a delivery waits is busy: the delivery must end first.
 */
export const deleteSession = defineCommand({
  name: "session.delete",
  run: (tx, request: DeleteSession): SessionRequestOutcome =>
    once(tx, "delete", request, () => {
      const { sessionId } = request;
      const refused = refuseBusy(tx, sessionId);
      if (refused) return refused;
      const waiting = tx.all<{ delivery_id: string | null }>(
        "SELECT delivery_id FROM inputs WHERE session_id = ? AND state = 'queued'",
        sessionId,
      );
      if (waiting.some((input) => input.delivery_id !== null)) return { kind: "busy" };
      // They end first, so that they are counted among the ends.
      tx.run(
        "UPDATE inputs SET state = 'ended', outcome = 'cancelled', ended_at = ? WHERE session_id = ? AND state = 'queued'",
        request.now,
        sessionId,
      );
      tx.run("UPDATE turn_totals SET ended = ended + ?1, ended_unstarted = ended_unstarted + ?1", waiting.length);
      tx.run("DELETE FROM sessions WHERE session_id = ?", sessionId);
      return { kind: "done", sessionId, replayed: false };
    }),
});

function once(
  tx: Tx,
  method: string,
  request: SessionRequest,
  change: () => SessionRequestOutcome,
): SessionRequestOutcome {
  const { principal, requestId, digest, now, keepMs } = request;
  tx.run("DELETE FROM session_requests WHERE made_at < ?", now - keepMs);
  const earlier = tx.get<{ digest: string; session_id: string }>(
    "SELECT digest, session_id FROM session_requests WHERE principal = ? AND method = ? AND request_id = ?",
    principal,
    method,
    requestId,
  );
  if (earlier !== undefined) {
    if (earlier.digest !== digest) return { kind: "conflict" };
    return { kind: "done", sessionId: earlier.session_id, replayed: true };
  }
  const outcome = change();
  if (outcome.kind === "done") {
    tx.run(
      `INSERT INTO session_requests (principal, method, request_id, digest, session_id, made_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
      principal,
      method,
      requestId,
      digest,
      outcome.sessionId,
      now,
    );
  }
  return outcome;
}

function refuseBusy(tx: Tx, sessionId: string): SessionRequestOutcome | undefined {
  const session = tx.get<{ running: string | null; started: number; dispatched: number }>(
    `SELECT running_execution_id AS running,
       EXISTS (SELECT 1 FROM inputs WHERE session_id = s.session_id AND state = 'started') AS started,
       EXISTS (SELECT 1 FROM children WHERE session_id = s.session_id AND state = 'dispatched') AS dispatched
     FROM sessions s WHERE session_id = ?`,
    sessionId,
  );
  if (session === undefined) return { kind: "unknown" };
  const busy = session.running !== null || session.started !== 0 || session.dispatched !== 0;
  return busy ? { kind: "busy" } : undefined;
}
