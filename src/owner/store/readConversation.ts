import type { ReadConversationResponse } from "../../gen/talaria/owner/v1/execution_store_service.js";
import type { ConversationMessage } from "../../gen/talaria/types/v1/conversation.js";
import { findSession } from "../../store/queries/sessions.js";
import { firstContextRow } from "../../store/queries/turns.js";
import { readTranscript } from "../../store/queries/transcript.js";
import type { Queryable } from "../../store/sql.js";
import { toMessage } from "../records/toMessage.js";

/** Most rows of one part. */
const PART_ROWS = 256;
/** Most text of one part, UTF-16 units. */
const PART_TEXT = 262_144;

/** Which rows are wanted. */
export interface ConversationRange {
  /** Rows after this one; 0 from the start. */
  readonly afterRow: number;
  /** Whether rows that a summary stands for are wanted too. */
  readonly includeCompacted: boolean;
}

/** A session's transcript since its last reset in parts, each read when the one before has been taken. */
export async function* readConversation(
  reader: Queryable,
  sessionId: string,
  range: ConversationRange,
): AsyncGenerator<ReadConversationResponse> {
  let title = findSession(reader, sessionId)?.title ?? "";
  let first = true;
  for (let after = Math.max(range.afterRow, firstContextRow(reader, sessionId) - 1); ;) {
    const rows = readTranscript(reader, sessionId, after, PART_ROWS);
    const wanted = rows.filter((row) => range.includeCompacted || !row.compacted).map(toMessage);
    for (const messages of inParts(wanted)) {
      yield { messages, title };
      title = "";
      first = false;
    }
    after = rows.at(-1)?.row ?? after;
    if (rows.length < PART_ROWS) break;
  }
  if (first) yield { messages: [], title };
}

function* inParts(messages: readonly ConversationMessage[]): Generator<ConversationMessage[]> {
  let part: ConversationMessage[] = [];
  let size = 0;
  for (const message of messages) {
    const length = message.text.length + message.reasoning.length;
    if (part.length > 0 && size + length > PART_TEXT) {
      yield part;
      part = [];
      size = 0;
    }
    part.push(message);
    size += length;
  }
  if (part.length > 0) yield part;
}
