import { FAMILY } from "../queries/sessions.js";
import type { Queryable } from "../sql.js";

/** A prompt, as the store keeps it. */
export interface PromptRow {
  readonly prompt_id: string;
  readonly session_id: string;
  readonly execution_id: string;
  readonly worker_prompt_id: string;
  /** Encoded talaria.types.v1.Prompt. */
  readonly request: Uint8Array;
  /** Null while open. */
  readonly end: string | null;
  readonly answer: string | null;
  readonly answered_by: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly ended_at: number | null;
}

/** Reads a prompt. */
export function promptRow(at: Queryable, promptId: string): PromptRow | undefined {
  return at.get<PromptRow>("SELECT * FROM prompts WHERE prompt_id = ?", promptId);
}

/** The open prompts of a session and of its child turns, oldest first. */
export function openPromptRows(at: Queryable, sessionId: string): PromptRow[] {
  return at.all<PromptRow>(
    `${FAMILY} SELECT * FROM prompts WHERE session_id IN family AND end IS NULL ORDER BY created_at, prompt_id`,
    sessionId,
  );
}

/** Open prompts of the home, or of one session with its child turns, oldest first, after a place, at most `limit`. */
export function listOpenPrompts(
  at: Queryable,
  filter: {
    /** Only this session's; empty for all. */
    readonly sessionId: string;
    /** Place of the last row before; undefined from the start. */
    readonly after: { readonly createdAt: number; readonly promptId: string } | undefined;
    readonly limit: number;
  },
): PromptRow[] {
  return at.all<PromptRow>(
    `${FAMILY} SELECT * FROM prompts
     WHERE end IS NULL AND (? = '' OR session_id IN family) AND (created_at, prompt_id) > (?, ?)
     ORDER BY created_at, prompt_id LIMIT ?`,
    filter.sessionId,
    filter.sessionId,
    filter.after?.createdAt ?? -1,
    filter.after?.promptId ?? "",
    filter.limit,
  );
}
