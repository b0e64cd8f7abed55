import { defineCommand } from "../command.js";
import { addUsageToDay } from "../usage/addUsageToDay.js";
import { addUsageToSession } from "../usage/addUsageToSession.js";
import type { StoredUsage } from "../usage/storedUsage.js";
import { executionRow } from "./executionRow.js";
import { type ExecutionLoss, type ExecutionLossResult, loseExecution } from "./loseExecution.js";

/** A loss with what its turn is known to have used. */
export interface UsedExecutionLoss extends ExecutionLoss {
  readonly usage: StoredUsage;
}

/** {@link loseExecution}, counting what the turn had used; nothing is counted where it was settled before. */
export const loseUsedExecution = defineCommand<UsedExecutionLoss, ExecutionLossResult>({
  name: "execution.lose_used",
  run(tx, { usage, ...loss }) {
    const lost = loseExecution.run(tx, loss);
    const sessionId = executionRow(tx, loss.executionId)?.session_id;
    if (lost.kind !== "lost" || sessionId === undefined) return lost;
    addUsageToSession(tx, sessionId, usage);
    addUsageToDay(tx, sessionId, usage, loss.now);
    return lost;
  },
});
