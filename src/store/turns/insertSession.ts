import type { Tx } from "../sql.js";

/** The turn that a child session works for. */
export interface SessionParent {
  readonly executionId: string;
  readonly sessionId: string;
  /** Depth of the child in the tree of child turns, from 1. */
  readonly childDepth: number;
}

/** A session that is about to be created. */
export interface SessionDraft {
  /** A fresh id. */
  readonly sessionId: string;
  readonly agent: string;
  /** Title; may be empty except for a `Bot Chat`. */
  readonly title: string;
  readonly botChat: boolean;
  /** What it does when a turn's outcome is unknown. */
  readonly onUnknown: "pause" | "continue";
  /** Frozen policy, an encoded talaria.types.v1.Policy. */
  readonly policy: Uint8Array;
  /** What it is a child of; absent for an ordinary session. */
  readonly parent?: SessionParent;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Creates a session. */
export function insertSession(tx: Tx, draft: SessionDraft): void {
  tx.run(
    `INSERT INTO sessions (session_id, agent, title, bot_chat, on_unknown, policy, parent_execution_id,
       parent_session_id, child_depth, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    draft.sessionId,
    draft.agent,
    draft.title,
    draft.botChat ? 1 : 0,
    draft.onUnknown,
    draft.policy,
    draft.parent?.executionId ?? null,
    draft.parent?.sessionId ?? null,
    draft.parent?.childDepth ?? 0,
    draft.now,
    draft.now,
  );
}
