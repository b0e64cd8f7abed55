import { utcDay } from "../../base/utcDay.js";
import type { Tx } from "../sql.js";
import { MOST_COUNTED } from "./mostCounted.js";

/** What model calls have used. */
export interface DayUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  readonly apiCalls: number;
  /** US dollars; 0 where unknown. */
  readonly costUsd: number;
}

/**
 * Adds to what the agent of a session has used on the day of `now`, where it stays when the session is deleted. Counters stop at the
 * largest whole number that is read back exactly.
 * @param now epoch milliseconds
 */
export function addUsageToDay(tx: Tx, sessionId: string, usage: DayUsage, now: number): void {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  if (inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens + usage.apiCalls + usage.costUsd === 0) return;
  tx.run(
    `INSERT INTO usage_days (day, agent, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
       api_calls, cost_usd)
     SELECT ?, agent, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE session_id = ?
     ON CONFLICT (day, agent) DO UPDATE SET
       input_tokens = MIN(${MOST_COUNTED}, input_tokens + excluded.input_tokens),
       output_tokens = MIN(${MOST_COUNTED}, output_tokens + excluded.output_tokens),
       cache_read_tokens = MIN(${MOST_COUNTED}, cache_read_tokens + excluded.cache_read_tokens),
       cache_write_tokens = MIN(${MOST_COUNTED}, cache_write_tokens + excluded.cache_write_tokens),
       reasoning_tokens = MIN(${MOST_COUNTED}, reasoning_tokens + excluded.reasoning_tokens),
       api_calls = MIN(${MOST_COUNTED}, api_calls + excluded.api_calls), cost_usd = cost_usd + excluded.cost_usd`,
    utcDay(now),
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    usage.apiCalls,
    usage.costUsd,
    sessionId,
  );
}
