import type { RecordUsage } from "../gen/talaria/owner/v1/execution_store_service.js";
import type { UsageTotals } from "./usageTally.js";

/** What was used, and of which model. */
export interface UsedModel {
  readonly totals: UsageTotals;
  readonly provider: string;
  readonly model: string;
}

/** The figures of an operation that adds to what a session has used. @param purpose what for; empty for the turn's own work. */
export function usageRecord({ totals, provider, model }: UsedModel, purpose: string): RecordUsage {
  return {
    provider,
    model,
    purpose,
    inputTokens: BigInt(totals.inputTokens),
    outputTokens: BigInt(totals.outputTokens),
    cacheReadTokens: BigInt(totals.cacheReadTokens),
    cacheWriteTokens: BigInt(totals.cacheWriteTokens),
    reasoningTokens: BigInt(totals.reasoningTokens),
    apiCalls: totals.apiCalls,
    estimatedCostUsd: totals.costUsd,
  };
}
