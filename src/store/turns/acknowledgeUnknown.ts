import { defineCommand } from "../command.js";
import { touchSession } from "./touchSession.js";

/** Names the unknown turn that a person has taken note of. */
export interface Acknowledgement {
  readonly sessionId: string;
  readonly executionId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Lets a session go on that is paused behind an unknown outcome; a repeat for the same execution is fine. */
export const acknowledgeUnknown = defineCommand<
  Acknowledgement,
  | { readonly kind: "acknowledged" }
  | { readonly kind: "not_paused_behind"; readonly executionId: string | null }
  | { readonly kind: "unknown_session" }
>({
  name: "session.acknowledge",
  run(tx, { sessionId, executionId, now }) {
    const session = tx.get<{ paused_execution_id: string | null }>(
      "SELECT paused_execution_id FROM sessions WHERE session_id = ?",
      sessionId,
    );
    if (session === undefined) return { kind: "unknown_session" };
    if (session.paused_execution_id !== executionId) {
      const outcome = tx.get<{ outcome: string | null }>(
        "SELECT outcome FROM executions WHERE execution_id = ? AND session_id = ?",
        executionId,
        sessionId,
      );
      if (session.paused_execution_id === null && outcome?.outcome === "unknown") return { kind: "acknowledged" };
      return { kind: "not_paused_behind", executionId: session.paused_execution_id };
    }
    tx.run("UPDATE sessions SET paused_execution_id = NULL WHERE session_id = ?", sessionId);
    touchSession(tx, sessionId, now);
    return { kind: "acknowledged" };
  },
});
