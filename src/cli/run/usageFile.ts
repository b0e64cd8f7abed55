import { renameSync, rmSync, writeFileSync } from "node:fs";

import type { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { turnOutcomeToJSON, Usage } from "../../gen/talaria/types/v1/result.js";
import { reasonOfNumber } from "../../rpc/reasons.js";
import { shortName } from "../render/names.js";

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

/** Writes {@link usageOf} as JSON by renaming, so that whoever reads meanwhile sees a whole file. @throws errors of the system. */
export function writeUsageFile(file: string, turn: Turn): void {
  const temporary = `${file}.${String(process.pid)}`;
  try {
    writeFileSync(temporary, `${JSON.stringify(usageOf(turn), undefined, 2)}\n`, { mode: 0o600 });
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}
