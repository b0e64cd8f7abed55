import type { Queryable, SqlValue } from "../sql.js";
import type { StoredUsage } from "../usage/storedUsage.js";

/** Whether a session can start its next input. */
export type StoredSessionState = "idle" | "running" | "queued" | "paused";

/** A session without its policy. Times are epoch milliseconds. */
export interface SessionRow {
  readonly sessionId: string;
  readonly agent: string;
  readonly title: string;
  readonly botChat: boolean;
  readonly state: StoredSessionState;
  readonly generation: number;
  readonly revision: number;
  readonly queuedInputs: number;
  readonly runningExecutionId: string | null;
  readonly pausedExecutionId: string | null;
  /** Set for the session of a child turn. */
  readonly parentExecutionId: string | null;
  readonly onUnknown: "pause" | "continue";
  readonly rows: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** What its turns have used so far. */
  readonly usage: StoredUsage;
}

/** Which sessions are listed, the last changed first. */
export interface SessionFilter {
  /** Only this agent's. */
  readonly agent?: string;
  /** Only those of this session's child turns; absent = none of any child turn. */
  readonly parentSessionId?: string;
  /** Only those in one of these states; empty for all. */
  readonly states: readonly StoredSessionState[];
  /** Only those after this place. */
  readonly after?: { readonly updatedAt: number; readonly sessionId: string };
  /** Most rows. */
  readonly limit: number;
}

const SELECT = `
  SELECT s.*,
    CASE WHEN s.paused_execution_id IS NOT NULL THEN 'paused'
         WHEN s.running_execution_id IS NOT NULL
           OR EXISTS (SELECT 1 FROM inputs i WHERE i.session_id = s.session_id AND i.state = 'started') THEN 'running'
         WHEN EXISTS (SELECT 1 FROM inputs i WHERE i.session_id = s.session_id AND i.state = 'queued') THEN 'queued'
         ELSE 'idle' END AS state,
    (SELECT COUNT(*) FROM inputs i WHERE i.session_id = s.session_id AND i.state = 'queued') AS queued_inputs
  FROM (
    SELECT session_id, agent, title, bot_chat, generation, revision, running_execution_id, paused_execution_id,
      parent_execution_id, parent_session_id, on_unknown, rows, created_at, updated_at, input_tokens, output_tokens, cache_read_tokens,
      cache_write_tokens, reasoning_tokens, api_calls, cost_usd
    FROM sessions
  ) s`;

/** The session of that id. */
export function findSession(from: Queryable, sessionId: string): SessionRow | undefined {
  const row = from.get<Columns>(`${SELECT} WHERE s.session_id = ?`, sessionId);
  return row === undefined ? undefined : fromColumns(row);
}

/** The agent of a session; undefined where there is no such session. */
export function agentOfSession(from: Queryable, sessionId: string): string | undefined {
  return from.get<{ agent: string }>("SELECT agent FROM sessions WHERE session_id = ?", sessionId)?.agent;
}

/** The frozen policy of a session: an encoded talaria.types.v1.Policy. */
export function sessionPolicy(from: Queryable, sessionId: string): Uint8Array | undefined {
  return from.get<{ policy: Uint8Array }>("SELECT policy FROM sessions WHERE session_id = ?", sessionId)?.policy;
}

/** The sessions that a child's belongs to, nearest first: its parent's, and that one's. */
export function ancestorSessions(from: Queryable, sessionId: string): readonly string[] {
  return from
    .all<{ session_id: string }>(
      `WITH RECURSIVE up (session_id, step) AS (
         SELECT parent_session_id, 1 FROM sessions WHERE session_id = ? UNION ALL
         SELECT parent_session_id, step + 1 FROM sessions JOIN up USING (session_id))
       SELECT session_id FROM up WHERE session_id IS NOT NULL ORDER BY step`,
      sessionId,
    )
    .map((row) => row.session_id);
}

/** The sessions of a session's child turns and of theirs, and itself, as table `family`; its one parameter is the session's id. */
export const FAMILY = `WITH RECURSIVE family (session_id) AS (
  SELECT ? UNION ALL
  SELECT sessions.session_id FROM sessions JOIN family ON sessions.parent_session_id = family.session_id)`;

/** A session, the sessions of its child turns and of theirs, in this order. */
export function familyOf(from: Queryable, sessionId: string): readonly string[] {
  return from
    .all<{ session_id: string }>(`${FAMILY} SELECT session_id FROM family`, sessionId)
    .map((row) => row.session_id);
}

/** Whether an execution is, or works for, another one. */
export function worksFor(from: Queryable, executionId: string, otherId: string): boolean {
  for (let id: string | null | undefined = executionId; id;) {
    if (id === otherId) return true;
    id = from.get<{ parent: string | null }>(
      `SELECT parent_execution_id AS parent FROM executions JOIN sessions USING (session_id) WHERE execution_id = ?`,
      id,
    )?.parent;
  }
  return false;
}

/** The agent's `Bot Chat`; undefined until the first message has created it. */
export function botChatOf(from: Queryable, agent: string): string | undefined {
  const sql = "SELECT session_id FROM sessions WHERE agent = ? AND bot_chat = 1";
  return from.get<{ session_id: string }>(sql, agent)?.session_id;
}

/** Sessions, the last changed first. */
export function listSessions(from: Queryable, filter: SessionFilter): readonly SessionRow[] {
  const { agent, parentSessionId, states, after, limit } = filter;
  const wheres = [parentSessionId === undefined ? "s.parent_session_id IS NULL" : "s.parent_session_id = ?"];
  const values: SqlValue[] = parentSessionId === undefined ? [] : [parentSessionId];
  if (agent !== undefined) {
    wheres.push("s.agent = ?");
    values.push(agent);
  }
  if (after !== undefined) {
    wheres.push("(s.updated_at < ? OR (s.updated_at = ? AND s.session_id < ?))");
    values.push(after.updatedAt, after.updatedAt, after.sessionId);
  }
  if (states.length > 0) {
    wheres.push(`state IN (${states.map(() => "?").join(", ")})`);
    values.push(...states);
  }
  const sql = `SELECT * FROM (${SELECT}) s WHERE ${wheres.join(" AND ")} ORDER BY s.updated_at DESC, s.session_id DESC LIMIT ?`;
  return from.all<Columns>(sql, ...values, limit).map(fromColumns);
}

interface Columns {
  session_id: string;
  agent: string;
  title: string;
  bot_chat: number;
  state: StoredSessionState;
  generation: number;
  revision: number;
  queued_inputs: number;
  running_execution_id: string | null;
  paused_execution_id: string | null;
  parent_execution_id: string | null;
  on_unknown: "pause" | "continue";
  rows: number;
  created_at: number;
  updated_at: number;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  api_calls: number;
  cost_usd: number;
}

function fromColumns(row: Columns): SessionRow {
  return {
    sessionId: row.session_id,
    agent: row.agent,
    title: row.title,
    botChat: row.bot_chat === 1,
    state: row.state,
    generation: row.generation,
    revision: row.revision,
    queuedInputs: row.queued_inputs,
    runningExecutionId: row.running_execution_id,
    pausedExecutionId: row.paused_execution_id,
    parentExecutionId: row.parent_execution_id,
    onUnknown: row.on_unknown,
    rows: row.rows,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    usage: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      cacheReadTokens: row.cache_read_tokens,
      cacheWriteTokens: row.cache_write_tokens,
      reasoningTokens: row.reasoning_tokens,
      apiCalls: row.api_calls,
      costUsd: row.cost_usd,
    },
  };
}
