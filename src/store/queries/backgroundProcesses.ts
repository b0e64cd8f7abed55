import type { Queryable } from "../sql.js";

/** A background process that a turn has left behind, as it was recorded. */
export interface BackgroundProcessRow {
  readonly processId: string;
  readonly pid: number;
  /** Birth ticks, as decimal text. */
  readonly birth: string;
  readonly processGroup: number;
  readonly command: string;
}

/** Most of them that a turn is told of. */
const MOST = 64;

/** A session's background processes that are not known to have ended, newest first, at most 64. */
export function runningBackgroundProcesses(at: Queryable, sessionId: string): readonly BackgroundProcessRow[] {
  return at
    .all<{ process_id: string; pid: number; birth: string; process_group: number; command: string }>(
      `SELECT process_id, pid, birth, process_group, command FROM background_processes
     WHERE session_id = ? AND state = 'running' ORDER BY updated_at DESC, process_id LIMIT ?`,
      sessionId,
      MOST,
    )
    .map((row) => ({
      processId: row.process_id,
      pid: row.pid,
      birth: row.birth,
      processGroup: row.process_group,
      command: row.command,
    }));
}
