import { Prompt } from "../../gen/talaria/types/v1/prompt.js";
import { grantedCommands, sessionApprovals } from "../../store/queries/grantedCommands.js";
import type { Queryable } from "../../store/sql.js";

/**
 * The commands that need no approval in a turn: the agent's grants, and what a person has approved for the session, or for one that its
 * turn works for. An approved edit grants nothing: it was about that edit.
 * @param sessions the turn's own session, and those above it
 */
export function commandsGranted(at: Queryable, agent: string, sessions: readonly string[]): readonly string[] {
  const approved = sessions
    .flatMap((sessionId) => sessionApprovals(at, sessionId))
    .flatMap((bytes) => {
      const { request } = Prompt.decode(bytes);
      return request?.$case === "approval" && request.value.edit === undefined ? [request.value.command] : [];
    });
  return [...new Set([...grantedCommands(at, agent), ...approved])];
}
