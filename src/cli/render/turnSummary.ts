import type { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { turnOutcomeToJSON } from "../../gen/talaria/types/v1/result.js";
import { shortName } from "./names.js";

/** One line about a turn that has ended: outcome, time, tokens, cost, and the session in which it can go on. */
export function turnSummary(turn: Turn): string {
  const { usage, startedAt, endedAt } = turn;
  const seconds =
    startedAt === undefined || endedAt === undefined
      ? undefined
      : Number(endedAt.seconds - startedAt.seconds) + (endedAt.nanos - startedAt.nanos) / 1e9;
  const tokens = usage === undefined ? 0n : usage.inputTokens + usage.outputTokens;
  const cost = usage?.estimatedCostUsd;
  return [
    shortName(turnOutcomeToJSON(turn.outcome), "TURN_OUTCOME_"),
    ...(seconds === undefined ? [] : [`${seconds.toFixed(1)} s`]),
    ...(usage === undefined || tokens === 0n
      ? []
      : [`${String(usage.inputTokens)} + ${String(usage.outputTokens)} tokens`]),
    ...(cost === undefined ? [] : [`$${cost.toFixed(4)}`]),
    turn.sessionId,
  ].join(" · ");
}
