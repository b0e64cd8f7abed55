import type { Queryable } from "../sql.js";
import type { ExecutionRow } from "../turns/executionRow.js";
import { executionRow } from "../turns/executionRow.js";
import type { InputRow } from "../turns/inputRow.js";
import { inputRow } from "../turns/inputRow.js";

/** What is known of a turn: its input, and its execution once there is one. */
export interface TurnRows {
  readonly input: InputRow;
  readonly execution: ExecutionRow | undefined;
  /** Place in the queue, 1 is next; 0 once started. */
  readonly position: number;
}

/** The rows of a turn, by its input. */
export function turnRows(at: Queryable, inputId: string): TurnRows | undefined {
  const input = inputRow(at, inputId);
  return input === undefined ? undefined : withExecution(at, input);
}

/** The turns of a session whose inputs were queued after number `after`, oldest first. */
export function turnsOfSession(at: Queryable, sessionId: string, after: number, limit: number): readonly TurnRows[] {
  return at
    .all<InputRow>(
      "SELECT * FROM inputs WHERE session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
      sessionId,
      after,
      limit,
    )
    .map((input) => withExecution(at, input));
}

/** The queued inputs of a session, next first. */
export function queuedTurns(at: Queryable, sessionId: string, limit: number): readonly TurnRows[] {
  return at
    .all<InputRow>(
      "SELECT * FROM inputs WHERE session_id = ? AND state = 'queued' ORDER BY sequence LIMIT ?",
      sessionId,
      limit,
    )
    .map((input, index) => ({ input, execution: undefined, position: index + 1 }));
}

/** The running turn of a session. */
export function runningTurn(at: Queryable, sessionId: string): TurnRows | undefined {
  const row = at.get<{ input_id: string }>(
    `SELECT executions.input_id FROM sessions JOIN executions ON execution_id = running_execution_id
     WHERE sessions.session_id = ?`,
    sessionId,
  );
  return row === undefined ? undefined : turnRows(at, row.input_id);
}

/** The first row of a session's transcript that its turns read: what lies before was ended by a reset. */
export function firstContextRow(at: Queryable, sessionId: string): number {
  const row = at.get<{ first: number }>(
    "SELECT context_from_row AS first FROM sessions WHERE session_id = ?",
    sessionId,
  );
  return row?.first ?? 1;
}

/**
 * Sessions that have something to run and are not paused; a child turn is run by its parent.
 * @param agent only this agent's; default all
 */
export function sessionsToRun(at: Queryable, agent?: string): readonly string[] {
  return at
    .all<{ session_id: string }>(
      `SELECT session_id FROM inputs JOIN sessions USING (session_id)
       WHERE state = 'queued' AND paused_execution_id IS NULL AND child_depth = 0 AND (?1 IS NULL OR agent = ?1)
       GROUP BY session_id ORDER BY MIN(sequence)`,
      agent ?? null,
    )
    .map((row) => row.session_id);
}

/** Executions of earlier epochs that hold their session or have no outcome: what a dead owner left behind. */
export function abandonedExecutions(at: Queryable, epoch: number): readonly ExecutionRow[] {
  return at.all<ExecutionRow>(
    `SELECT executions.* FROM executions JOIN sessions USING (session_id)
     WHERE executions.epoch < ? AND (outcome IS NULL OR running_execution_id = execution_id)
     ORDER BY created_at, execution_id`,
    epoch,
  );
}

/** A launch that is not proved gone. */
export interface LaunchRow {
  readonly launch_id: string;
  readonly epoch: number;
  readonly pid: number;
  /** Birth ticks, as decimal text. */
  readonly birth: string;
  readonly boot_id: string;
  readonly process_group: number;
  readonly worker_pid: number | null;
  readonly worker_birth: string | null;
}

/** Launches of earlier epochs that are not proved gone. */
export function abandonedLaunches(at: Queryable, epoch: number): readonly LaunchRow[] {
  return at.all<LaunchRow>("SELECT * FROM launches WHERE epoch < ? AND gone_at IS NULL ORDER BY created_at", epoch);
}

function withExecution(at: Queryable, input: InputRow): TurnRows {
  return {
    input,
    execution: input.execution_id === null ? undefined : executionRow(at, input.execution_id),
    position: input.state === "queued" ? positionOf(at, input) : 0,
  };
}

function positionOf(at: Queryable, input: InputRow): number {
  const row = at.get<{ position: number }>(
    "SELECT COUNT(*) AS position FROM inputs WHERE session_id = ? AND state = 'queued' AND sequence <= ?",
    input.session_id,
    input.sequence,
  );
  return row?.position ?? 0;
}
