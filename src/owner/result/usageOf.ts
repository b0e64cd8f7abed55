import type { TurnResult, Usage } from "../../gen/talaria/types/v1/result.js";

/**
 * A receipt's usage as clients see it: this turn's figures where the worker gave them, else the session's totals.
 * The sum is made here, so that it always adds up.
 */
export function usageOf(result: TurnResult): Usage {
  const inputTokens = result.turnInputTokens ?? result.promptTokens;
  const outputTokens = result.turnOutputTokens ?? result.completionTokens;
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cacheReadTokens: result.cacheReadTokens,
    cacheWriteTokens: result.cacheWriteTokens,
    reasoningTokens: result.reasoningTokens,
    apiCalls: result.apiCalls,
    estimatedCostUsd: result.estimatedCostUsd,
    costStatus: result.costStatus,
  };
}
