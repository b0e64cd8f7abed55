import { defineCommand } from "../command.js";
import type { FenceProblem, StoredFence } from "./fence.js";
import { checkFence } from "./fence.js";
import type { StoredOutcome } from "./storedOutcome.js";

/** A worker's word that its store stream is at its end. */
export interface ExecutionFinish {
  readonly fence: StoredFence;
  readonly epoch: number;
  /** Sequence of the last operation it sent. */
  readonly lastSequence: number;
}

/** What became of it. */
export type ExecutionFinishResult =
  | { readonly kind: "finished"; readonly outcome: StoredOutcome; readonly endedAt: number }
  | { readonly kind: "sequence_gap"; readonly lastSequence: number }
  | { readonly kind: "stale"; readonly problem: FenceProblem };

/** Ends an execution's store stream, once its result is committed; a repeat gets the same answer. */
export const finishExecution = defineCommand<ExecutionFinish, ExecutionFinishResult>({
  name: "execution.finish",
  run(tx, { fence, epoch, lastSequence }) {
    const verdict = checkFence(tx, fence, epoch, ["result", "finished"]);
    if (verdict.kind === "stale") return verdict;
    const { execution } = verdict;
    if (execution.last_sequence !== lastSequence) {
      return { kind: "sequence_gap", lastSequence: execution.last_sequence };
    }
    tx.run("UPDATE executions SET state = 'finished' WHERE execution_id = ?", fence.executionId);
    return { kind: "finished", outcome: execution.outcome ?? "unknown", endedAt: execution.ended_at ?? 0 };
  },
});
