import type { Queryable } from "../sql.js";
import type { AuthorColumns, StoredAuthor } from "../turns/storedAuthor.js";
import { authorFromColumns } from "../turns/storedAuthor.js";

/** A row of a session's transcript. */
export interface TranscriptRow {
  /** From 1. */
  readonly row: number;
  readonly role: "user" | "assistant" | "system" | "tool";
  readonly text: string;
  readonly author: StoredAuthor;
  /** JSON text of the calls that an assistant row asks for. */
  readonly toolCalls: string | null;
  readonly toolCallId: string | null;
  readonly toolName: string | null;
  readonly reasoning: string | null;
  readonly executionId: string | null;
  readonly compacted: boolean;
  readonly boundary: boolean;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Bytes of a row's texts that may be long. */
export function transcriptBytes({ text, reasoning, toolCalls }: TranscriptRow): number {
  return Buffer.byteLength(text) + Buffer.byteLength(reasoning ?? "") + Buffer.byteLength(toolCalls ?? "");
}

interface Columns extends AuthorColumns {
  row: number;
  role: TranscriptRow["role"];
  text: string;
  tool_calls: string | null;
  tool_call_id: string | null;
  tool_name: string | null;
  reasoning: string | null;
  execution_id: string | null;
  compacted: number;
  boundary: number;
  created_at: number;
}

/** Rows of a session after `afterRow` (0 for the first), in order, at most `limit`. */
export function readTranscript(
  from: Queryable,
  sessionId: string,
  afterRow: number,
  limit: number,
): readonly TranscriptRow[] {
  return from
    .all<Columns>(
      "SELECT * FROM messages WHERE session_id = ? AND row > ? ORDER BY row LIMIT ?",
      sessionId,
      afterRow,
      limit,
    )
    .map(fromColumns);
}

/** The newest rows of a session, oldest first, at most `limit`. */
export function newestRows(from: Queryable, sessionId: string, limit: number): readonly TranscriptRow[] {
  return from
    .all<Columns>("SELECT * FROM messages WHERE session_id = ? ORDER BY row DESC LIMIT ?", sessionId, limit)
    .reverse()
    .map(fromColumns);
}

function fromColumns(row: Columns): TranscriptRow {
  return {
    row: row.row,
    role: row.role,
    text: row.text,
    author: authorFromColumns(row),
    toolCalls: row.tool_calls,
    toolCallId: row.tool_call_id,
    toolName: row.tool_name,
    reasoning: row.reasoning,
    executionId: row.execution_id,
    compacted: row.compacted === 1,
    boundary: row.boundary === 1,
    createdAt: row.created_at,
  };
}
