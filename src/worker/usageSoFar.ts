import { Usage } from "../gen/talaria/types/v1/result.js";
import type { UsageTotals } from "./usageTally.js";

/** Totals as a heartbeat tells them; undefined before anything was reported. */
export function usageSoFar(totals: UsageTotals): Usage | undefined {
  if (!totals.reported) return undefined;
  const inputTokens = BigInt(totals.inputTokens);
  const outputTokens = BigInt(totals.outputTokens);
  return Usage.fromPartial({
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cacheReadTokens: BigInt(totals.cacheReadTokens),
    cacheWriteTokens: BigInt(totals.cacheWriteTokens),
    reasoningTokens: BigInt(totals.reasoningTokens),
    apiCalls: totals.apiCalls,
    ...(totals.costUsd === undefined ? {} : { estimatedCostUsd: totals.costUsd }),
    costStatus: totals.costStatus,
  });
}
