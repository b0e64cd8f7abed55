import { ancestorSessions } from "../../store/queries/sessions.js";
import type { Queryable } from "../../store/sql.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";

/** The sessions whose viewers see a turn's prompts: its own, and for a child turn those that it works for. */
export function viewedIn(at: Queryable, { input, childDepth }: ClaimedInput): readonly string[] {
  return childDepth === 0 ? [input.session_id] : [input.session_id, ...ancestorSessions(at, input.session_id)];
}
