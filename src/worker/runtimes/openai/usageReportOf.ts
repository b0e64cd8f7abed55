import { CostStatus } from "../../../gen/talaria/types/v1/result.js";
import type { UsageReport } from "../../usageTally.js";
import type { AnswerUsage } from "./streamAnswer.js";

/** One request's figures as the turn counts them; a cost counts only where the provider says what it charged. Pure. */
export function usageReportOf(usage: AnswerUsage | undefined): UsageReport {
  if (usage === undefined) return {};
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens, raw } = usage;
  const cost = raw["cost"];
  const details = raw["prompt_tokens_details"];
  const written =
    typeof details === "object" && details !== null && "cache_write_tokens" in details
      ? details.cache_write_tokens
      : raw["cache_creation_input_tokens"];
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens,
    reasoningTokens,
    ...(typeof written === "number" ? { cacheWriteTokens: written } : {}),
    ...(typeof cost === "number"
      ? { costUsd: cost, costStatus: CostStatus.COST_STATUS_REPORTED, costSource: "provider" }
      : {}),
  };
}
