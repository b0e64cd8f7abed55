import { LIMITS } from "../base/limits.js";
import { CostStatus } from "../gen/talaria/types/v1/result.js";

/** What a runtime reports of its model calls. Every field is added to the tally; what is not a number counts as nothing. */
export interface UsageReport {
  /** Prompt tokens. */
  readonly inputTokens?: number;
  /** Completion tokens. */
  readonly outputTokens?: number;
  /** Prompt tokens read from the provider's cache. */
  readonly cacheReadTokens?: number;
  /** Prompt tokens written to the provider's cache. */
  readonly cacheWriteTokens?: number;
  /** Completion tokens spent on reasoning. */
  readonly reasoningTokens?: number;
  /** Model requests; default 1. */
  readonly apiCalls?: number;
  /** Cost in US dollars. */
  readonly costUsd?: number;
  /** How far the cost can be trusted; default ESTIMATED where a cost is given. */
  readonly costStatus?: CostStatus;
  /** Where the cost comes from. */
  readonly costSource?: string;
}

/** Sums of a turn. Counters are whole numbers from 0 to 2^53 - 1. */
export interface UsageTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly apiCalls: number;
  /** Undefined where no usable cost was reported. */
  readonly costUsd: number | undefined;
  readonly costStatus: CostStatus;
  readonly costSource: string | undefined;
  /** Whether anything was reported. */
  readonly reported: boolean;
}

/** Nothing used. */
export const NO_USAGE: UsageTotals = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  apiCalls: 0,
  costUsd: undefined,
  costStatus: CostStatus.COST_STATUS_UNSPECIFIED,
  costSource: undefined,
  reported: false,
});

const MAX_API_CALLS = 0xffff_ffff;

/** The totals with a report added. */
export function addUsage(totals: UsageTotals, report: UsageReport): UsageTotals {
  const cost = usableCost(report.costUsd);
  return {
    inputTokens: sum(totals.inputTokens, report.inputTokens),
    outputTokens: sum(totals.outputTokens, report.outputTokens),
    cacheReadTokens: sum(totals.cacheReadTokens, report.cacheReadTokens),
    cacheWriteTokens: sum(totals.cacheWriteTokens, report.cacheWriteTokens),
    reasoningTokens: sum(totals.reasoningTokens, report.reasoningTokens),
    apiCalls: Math.min(MAX_API_CALLS, sum(totals.apiCalls, report.apiCalls ?? 1)),
    costUsd: cost === undefined ? totals.costUsd : Math.min(LIMITS.costUsd, (totals.costUsd ?? 0) + cost),
    costStatus: report.costStatus ?? (cost === undefined ? totals.costStatus : CostStatus.COST_STATUS_ESTIMATED),
    costSource: report.costSource ?? totals.costSource,
    reported: true,
  };
}

function sum(total: number, more: number | undefined): number {
  const usable = more !== undefined && Number.isFinite(more) && more > 0 ? Math.floor(more) : 0;
  return Math.min(Number.MAX_SAFE_INTEGER, total + usable);
}

function usableCost(cost: number | undefined): number | undefined {
  return cost !== undefined && Number.isFinite(cost) && cost >= 0 ? cost : undefined;
}
