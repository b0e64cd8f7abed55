import type { Tx } from "../sql.js";
import { MOST_COUNTED } from "./mostCounted.js";
import type { StoredUsage } from "./storedUsage.js";

/** Adds to what the turns of a session have used. Counters stop at the largest whole number that is read back exactly. */
export function addUsageToSession(tx: Tx, sessionId: string, usage: StoredUsage): void {
  tx.run(
    `UPDATE sessions SET input_tokens = MIN(${MOST_COUNTED}, input_tokens + ?), output_tokens = MIN(${MOST_COUNTED}, output_tokens + ?),
       cache_read_tokens = MIN(${MOST_COUNTED}, cache_read_tokens + ?), cache_write_tokens = MIN(${MOST_COUNTED}, cache_write_tokens + ?),
       reasoning_tokens = MIN(${MOST_COUNTED}, reasoning_tokens + ?), api_calls = MIN(${MOST_COUNTED}, api_calls + ?), cost_usd = cost_usd + ?
     WHERE session_id = ?`,
    usage.inputTokens,
    usage.outputTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    usage.reasoningTokens,
    usage.apiCalls,
    usage.costUsd,
    sessionId,
  );
}
