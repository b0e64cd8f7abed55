import type { Tx } from "../sql.js";
import type { StoredUsage } from "./storedUsage.js";

/** Adds to what the turns of a session have used. */
export function addUsageToSession(tx: Tx, sessionId: string, usage: StoredUsage): void {
  tx.run(
    `UPDATE sessions SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
       cache_read_tokens = cache_read_tokens + ?, cache_write_tokens = cache_write_tokens + ?,
       reasoning_tokens = reasoning_tokens + ?, api_calls = api_calls + ?, cost_usd = cost_usd + ?
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
