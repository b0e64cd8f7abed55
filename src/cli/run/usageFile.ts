import type { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { turnOutcomeToJSON, Usage } from "../../gen/talaria/types/v1/result.js";
import { reasonOfNumber } from "../../rpc/reasons.js";
import { shortName } from "../render/names.js";
import { replaceFile } from "../replaceFile.js";

/** What a turn has used, for programs that keep accounts. */
export function usageOf(turn: Turn): Readonly<Record<string, unknown>> {
  const { failure, result, usage } = turn;
  return {
    sessionId: turn.sessionId,
    executionId: turn.executionId,
    requestId: turn.requestId,
    outcome: shortName(turnOutcomeToJSON(turn.outcome), "TURN_OUTCOME_"),
    reason: failure === undefined ? "" : (reasonOfNumber(failure.reason) ?? failure.foreignReason),
    model: result?.servedModel ?? result?.model ?? "",
    provider: result?.provider ?? "",
    usage: usage === undefined ? {} : Usage.toJSON(usage),
  };
}

/** Writes {@link usageOf} as JSON. @throws errors of the system. */
export function writeUsageFile(file: string, turn: Turn): void {
  replaceFile(file, `${JSON.stringify(usageOf(turn), undefined, 2)}\n`);
}
