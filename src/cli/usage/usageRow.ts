import type { AgentUsage } from "../../gen/talaria/gateway/v1/admin_service.js";

/** What one agent has used on one day, as it is printed. */
export interface UsageRow {
  /** UTC day, `YYYY-MM-DD`. */
  readonly day: string;
  readonly agent: string;
  readonly turns: number;
  /** Those that ended otherwise than completed. */
  readonly notCompleted: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly apiCalls: number;
  /** US dollars, where any cost is known; undefined where none is. */
  readonly costUsd: number | undefined;
  /** Its budgets, of the day that goes on alone. */
  readonly tokensPerDay: number | undefined;
  readonly costUsdPerDay: number | undefined;
  /** Why it begins no turn at present; undefined where it may. */
  readonly paused: string | undefined;
  /** Who lifted its budget for the day; undefined where nobody did. */
  readonly liftedBy: string | undefined;
}

/** Reads what the contract says of a day. */
export function usageRow(usage: AgentUsage): UsageRow {
  const { day, agent, pause, liftedBy, tokensPerDay, costUsdPerDay } = usage;
  return {
    day,
    agent,
    turns: Number(usage.turns),
    notCompleted: Number(usage.notCompleted),
    inputTokens: Number(usage.inputTokens),
    outputTokens: Number(usage.outputTokens),
    apiCalls: Number(usage.apiCalls),
    costUsd: usage.costUsd === 0 ? undefined : usage.costUsd,
    tokensPerDay: tokensPerDay === undefined ? undefined : Number(tokensPerDay),
    costUsdPerDay,
    paused: pause?.message,
    liftedBy: liftedBy === "" ? undefined : liftedBy,
  };
}

/** What a day's budget is and what has become of it, in a few words; empty where there is none. */
export function budgetNote(row: UsageRow): string {
  const { tokensPerDay, costUsdPerDay, paused, liftedBy } = row;
  const limits = [
    ...(tokensPerDay === undefined ? [] : [`${String(tokensPerDay)} tokens`]),
    ...(costUsdPerDay === undefined ? [] : [`$${String(costUsdPerDay)}`]),
  ].join(", ");
  if (paused !== undefined) return `${limits}: paused`;
  return liftedBy === undefined ? limits : `${limits}${limits === "" ? "" : ", "}lifted by ${liftedBy}`;
}
