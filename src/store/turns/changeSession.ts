import { defineCommand } from "../command.js";
import { touchSession } from "./touchSession.js";

/** Settings of a session that may change at any time. */
export interface ChangeSession {
  readonly sessionId: string;
  /** Another title. */
  readonly title?: string;
  /** What it does from here on when a turn's outcome is unknown. */
  readonly onUnknown?: "pause" | "continue";
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Whether {@link changeSession} found what it should change; `protected`: a `Bot Chat` keeps its title. */
export type ChangeSessionOutcome = "done" | "unknown" | "protected";

/** Changes settings of a session; setting what is set already changes nothing. */
export const changeSession = defineCommand({
  name: "session.change",
  run(tx, { sessionId, title, onUnknown, now }: ChangeSession): ChangeSessionOutcome {
    const session = tx.get<{ title: string; bot_chat: number; on_unknown: string }>(
      "SELECT title, bot_chat, on_unknown FROM sessions WHERE session_id = ?",
      sessionId,
    );
    if (session === undefined) return "unknown";
    if (title !== undefined && session.bot_chat === 1) return "protected";
    const next = { title: title ?? session.title, onUnknown: onUnknown ?? session.on_unknown };
    if (next.title === session.title && next.onUnknown === session.on_unknown) return "done";
    tx.run("UPDATE sessions SET title = ?, on_unknown = ? WHERE session_id = ?", next.title, next.onUnknown, sessionId);
    touchSession(tx, sessionId, now);
    return "done";
  },
});
