import { defineCommand } from "../command.js";
import { FAMILY } from "../queries/sessions.js";
import type { Tx } from "../sql.js";

/**
 * Deletes the session that has been idle for longest, where that is since `idleSince` (epoch milliseconds) or longer, with its
 * transcript, turns and child sessions; one a call, because it may be large. An agent's canonical session stays, and so does one that is
 * paused, has inputs that have not ended, or waits for the end of a message. Returns the ids that went; empty where none is due.
 */
export const forgetIdleSession = defineCommand({
  name: "session.forget_idle",
  run(tx: Tx, { idleSince }: { readonly idleSince: number }): readonly string[] {
    const session = tx.get<{ id: string }>(
      `SELECT session_id AS id FROM sessions
       WHERE updated_at <= ? AND bot_chat = 0 AND parent_session_id IS NULL
         AND running_execution_id IS NULL AND paused_execution_id IS NULL
         AND NOT EXISTS (SELECT 1 FROM inputs WHERE inputs.session_id = sessions.session_id AND inputs.state <> 'ended')
         AND NOT EXISTS (SELECT 1 FROM deliveries WHERE sender_session_id = sessions.session_id AND ended_at IS NULL)
       ORDER BY updated_at, session_id LIMIT 1`,
      idleSince,
    );
    if (session === undefined) return [];
    const family = tx.all<{ id: string }>(`${FAMILY} SELECT session_id AS id FROM family`, session.id);
    tx.run("DELETE FROM sessions WHERE session_id = ?", session.id);
    return family.map(({ id }) => id);
  },
});
