import type { Queryable } from "../sql.js";
import type { AuthorColumns } from "./storedAuthor.js";
import type { StoredOutcome } from "./storedOutcome.js";

/** An input, as the store keeps it. */
export interface InputRow extends AuthorColumns {
  readonly sequence: number;
  readonly input_id: string;
  readonly session_id: string;
  readonly principal: string;
  readonly request_id: string;
  readonly state: "queued" | "started" | "ended";
  readonly attribution: string;
  readonly text: string;
  readonly headless: number;
  readonly delivery_id: string | null;
  readonly in_reply_to: string | null;
  readonly depth: number;
  /** 1 where a message, or what became of one, brought it or started the turn that it works for: its author sits at no session. */
  readonly from_message: number;
  readonly traceparent: string;
  readonly tracestate: string;
  readonly execution_id: string | null;
  readonly outcome: StoredOutcome | null;
  /** JSON text of the failure. */
  readonly failure: string | null;
  readonly queued_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
}

/** Reads an input. */
export function inputRow(at: Queryable, inputId: string): InputRow | undefined {
  return at.get<InputRow>("SELECT * FROM inputs WHERE input_id = ?", inputId);
}
