import type { Operation } from "./storeClient.js";
import type { UsageTotals } from "./usageTally.js";

/** The operation that adds what a turn used to its session, for a turn that comes to no receipt. */
export function usageOperation(
  totals: UsageTotals,
  model: { readonly provider: string; readonly name: string },
): Operation {
  return {
    $case: "recordUsage",
    value: {
      provider: model.provider,
      model: model.name,
      purpose: "",
      inputTokens: BigInt(totals.inputTokens),
      outputTokens: BigInt(totals.outputTokens),
      cacheReadTokens: BigInt(totals.cacheReadTokens),
      cacheWriteTokens: BigInt(totals.cacheWriteTokens),
      reasoningTokens: BigInt(totals.reasoningTokens),
      apiCalls: totals.apiCalls,
      estimatedCostUsd: totals.costUsd,
    },
  };
}
