import type { Queryable } from "../sql.js";

/** Counts of a home in one look. */
export interface StatusCounts {
  /** Turns; admitted = ended + queued + running. */
  readonly turns: {
    readonly admitted: number;
    readonly queued: number;
    readonly running: number;
    readonly ended: number;
  };
  readonly openPrompts: number;
  /** Sessions paused behind an unknown outcome. */
  readonly pausedSessions: number;
}

/** Reads the counts in one state of the store: pass a snapshot. */
export function readStatus(from: Queryable): StatusCounts {
  const totals = from.get<{ admitted: number; started: number; ended: number; unstarted: number }>(
    "SELECT admitted, started, ended, ended_unstarted AS unstarted FROM turn_totals",
  );
  const { admitted = 0, started = 0, ended = 0, unstarted = 0 } = totals ?? {};
  const count = (sql: string): number => from.get<{ count: number }>(sql)?.count ?? 0;
  return {
    turns: { admitted, queued: admitted - started - unstarted, running: started - (ended - unstarted), ended },
    openPrompts: count("SELECT COUNT(*) AS count FROM prompts WHERE end IS NULL"),
    pausedSessions: count("SELECT COUNT(*) AS count FROM sessions WHERE paused_execution_id IS NOT NULL"),
  };
}
