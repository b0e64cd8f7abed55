import type { AgentConfig } from "../../base/config/agentConfig.js";
import type { UsageDay } from "../../store/usage/usageDays.js";

/** A budget that is used up. */
export interface ReachedBudget {
  /** The key of `agent.yaml` that sets it. */
  readonly key: "budget.tokens_per_day" | "budget.cost_usd_per_day";
  readonly used: number;
  readonly limit: number;
}

/** Whether what an agent has used on a day reaches one of its budgets. One that was lifted for the day is never reached. */
export function budgetReached(budget: AgentConfig["budget"], used: UsageDay | undefined): ReachedBudget | undefined {
  if (used === undefined || used.liftedAt !== null) return undefined;
  const { tokensPerDay, costUsdPerDay } = budget;
  const tokens = used.inputTokens + used.outputTokens;
  if (tokensPerDay !== undefined && tokens >= tokensPerDay) {
    return { key: "budget.tokens_per_day", used: tokens, limit: tokensPerDay };
  }
  if (costUsdPerDay !== undefined && used.costUsd >= costUsdPerDay) {
    return { key: "budget.cost_usd_per_day", used: used.costUsd, limit: costUsdPerDay };
  }
  return undefined;
}
