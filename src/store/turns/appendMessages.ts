import type { Tx } from "../sql.js";
import type { StoredAuthor } from "./storedAuthor.js";
import { authorValues } from "./storedAuthor.js";

/** A transcript row that is about to be written. */
export interface MessageDraft {
  readonly role: "user" | "assistant" | "system" | "tool";
  readonly text: string;
  readonly author: StoredAuthor;
  /** JSON text of the calls that an assistant row asks for. */
  readonly toolCalls?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly reasoning?: string;
  readonly executionId?: string;
  /** True for a row that marks a place and is nobody's words. */
  readonly boundary?: boolean;
}

/** Adds rows at the end of a session's transcript; returns the number of the first one. */
export function appendMessages(tx: Tx, sessionId: string, drafts: readonly MessageDraft[], now: number): number {
  const session = tx.get<{ rows: number }>("SELECT rows FROM sessions WHERE session_id = ?", sessionId);
  const first = (session?.rows ?? 0) + 1;
  drafts.forEach((draft, index) => {
    tx.run(
      `INSERT INTO messages (session_id, row, role, text, author_kind, author_id, author_name, author_sent_by,
         tool_calls, tool_call_id, tool_name, reasoning, execution_id, boundary, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      sessionId,
      first + index,
      draft.role,
      draft.text,
      ...authorValues(draft.author),
      draft.toolCalls ?? null,
      draft.toolCallId ?? null,
      draft.toolName ?? null,
      draft.reasoning ?? null,
      draft.executionId ?? null,
      draft.boundary === true ? 1 : 0,
      now,
    );
  });
  tx.run("UPDATE sessions SET rows = rows + ? WHERE session_id = ?", drafts.length, sessionId);
  return first;
}
