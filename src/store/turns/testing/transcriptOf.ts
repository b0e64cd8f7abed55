import type { Store } from "../../store.js";

/** A transcript row as tests compare it. */
export interface SeenRow {
  readonly row: number;
  readonly role: string;
  readonly text: string;
  /** 1 for a row that marks a place. */
  readonly boundary: number;
}

/** A session's transcript in order. */
export function transcriptOf(store: Pick<Store, "reader">, sessionId: string): readonly SeenRow[] {
  return store.reader.all<SeenRow>(
    "SELECT row, role, text, boundary FROM messages WHERE session_id = ? ORDER BY row",
    sessionId,
  );
}
