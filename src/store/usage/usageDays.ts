import type { Queryable, SqlValue } from "../sql.js";
import type { StoredUsage } from "./storedUsage.js";

/** What one agent has used on one day, its children's turns and helper calls included. */
export interface UsageDay extends StoredUsage {
  /** Number of the UTC day. */
  readonly day: number;
  readonly agent: string;
  /** Turns that ended on it after they had started. */
  readonly turns: number;
  /** Those of them that ended otherwise than completed. */
  readonly notCompleted: number;
  /** When the agent was paused on it because its budget was reached, epoch milliseconds; null where it is not. */
  readonly pausedAt: number | null;
  /** Principal that lifted its budget for the day; empty where nobody did. */
  readonly liftedBy: string;
  /** When that was, epoch milliseconds. */
  readonly liftedAt: number | null;
}

/** Which days are listed. */
export interface UsageFilter {
  /** Only this agent's. */
  readonly agent?: string;
  /** Only this day and those after it. */
  readonly since?: number;
  /** Only what comes after this place. */
  readonly after?: { readonly day: number; readonly agent: string };
  /** Most rows. */
  readonly limit: number;
}

const SELECT = `SELECT day, agent, turns, not_completed AS notCompleted, input_tokens AS inputTokens,
  output_tokens AS outputTokens, cache_read_tokens AS cacheReadTokens, cache_write_tokens AS cacheWriteTokens,
  reasoning_tokens AS reasoningTokens, api_calls AS apiCalls, cost_usd AS costUsd, paused_at AS pausedAt,
  lifted_by AS liftedBy, lifted_at AS liftedAt FROM usage_days`;

/** What an agent has used on a day; undefined where nothing is known of it. */
export function usageOfDay(from: Queryable, agent: string, day: number): UsageDay | undefined {
  return from.get<UsageDay>(`${SELECT} WHERE day = ? AND agent = ?`, day, agent);
}

/** Agents whose pause on a day is noted. */
export function pausedAgents(from: Queryable, day: number): readonly string[] {
  return from
    .all<{ agent: string }>("SELECT agent FROM usage_days WHERE day = ? AND paused_at IS NOT NULL ORDER BY agent", day)
    .map(({ agent }) => agent);
}

/** What agents have used by day, the last day first, agents by name. */
export function listUsageDays(from: Queryable, { agent, since, after, limit }: UsageFilter): readonly UsageDay[] {
  const wheres: string[] = [];
  const values: SqlValue[] = [];
  const where = (sql: string, ...more: SqlValue[]): void => {
    wheres.push(sql);
    values.push(...more);
  };
  if (agent !== undefined) where("agent = ?", agent);
  if (since !== undefined) where("day >= ?", since);
  if (after !== undefined) where("(day < ? OR (day = ? AND agent > ?))", after.day, after.day, after.agent);
  const sql = `${SELECT} ${wheres.length === 0 ? "" : `WHERE ${wheres.join(" AND ")}`} ORDER BY day DESC, agent LIMIT ?`;
  return from.all<UsageDay>(sql, ...values, limit);
}
