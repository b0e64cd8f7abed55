import type { Session } from "../../gen/talaria/gateway/v1/session.js";
import type { ExportSessionResponse } from "../../gen/talaria/gateway/v1/session_service.js";
import { readTranscript } from "../../store/queries/transcript.js";
import type { Queryable } from "../../store/sql.js";
import type { OwnerRoom } from "../ports.js";
import { toMessage } from "../../owner/records/toMessage.js";
import { RpcError } from "../../rpc/rpcError.js";
import { findSession } from "../../store/queries/sessions.js";

/** Rows that are read at once: an export of a long session goes out at its reader's pace. */
const CHUNK = 100;

/**
 * A session whole: itself, its turns, its transcript, each as it is when its part is read.
 * @throws RpcError UNKNOWN_SESSION where it was deleted meanwhile: what has gone out is not the whole then.
 */
export async function* exportSession(
  session: Session,
  reader: Queryable,
  owner: Pick<OwnerRoom, "turnsOf">,
): AsyncGenerator<ExportSessionResponse> {
  yield { part: { $case: "session", value: session } };
  for (let after = 0, full = true; full;) {
    const turns = owner.turnsOf(session.sessionId, after, CHUNK);
    for (const { turn } of turns) yield { part: { $case: "turn", value: turn } };
    full = turns.length === CHUNK;
    after = turns.at(-1)?.sequence ?? after;
  }
  for (let after = 0, full = true; full;) {
    const rows = readTranscript(reader, session.sessionId, after, CHUNK);
    for (const row of rows) yield { part: { $case: "message", value: toMessage(row) } };
    full = rows.length === CHUNK;
    after = rows.at(-1)?.row ?? after;
  }
  if (findSession(reader, session.sessionId) === undefined) throw new RpcError("UNKNOWN_SESSION");
}
