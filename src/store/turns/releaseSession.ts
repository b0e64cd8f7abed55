import { defineCommand } from "../command.js";
import { touchSession } from "./touchSession.js";

/** Names the execution whose process group is proved gone. */
export interface SessionRelease {
  readonly executionId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Frees a session for its next input, once nothing of the last turn's processes is left. Returns the session, if it was held. */
export const releaseSession = defineCommand<SessionRelease, { readonly sessionId: string | null }>({
  name: "session.release",
  run(tx, { executionId, now }) {
    const session = tx.get<{ session_id: string }>(
      "SELECT session_id FROM sessions WHERE running_execution_id = ?",
      executionId,
    );
    if (session === undefined) return { sessionId: null };
    tx.run("UPDATE sessions SET running_execution_id = NULL WHERE session_id = ?", session.session_id);
    tx.run("UPDATE executions SET state = 'finished' WHERE execution_id = ? AND state = 'result'", executionId);
    touchSession(tx, session.session_id, now);
    return { sessionId: session.session_id };
  },
});
