import type { Queryable } from "../sql.js";

/** The commands that an agent may run without asking. */
export function grantedCommands(at: Queryable, agent: string): readonly string[] {
  return at
    .all<{ command: string }>("SELECT command FROM grants WHERE agent = ? ORDER BY granted_at", agent)
    .map(({ command }) => command);
}
