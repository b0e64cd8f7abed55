import { defineCommand } from "../command.js";
import type { StoredFailure } from "../storedFailure.js";
import type { DeliveryEffects } from "../deliveries/deliveryEffects.js";
import { executionRow } from "./executionRow.js";
import { settleTurn } from "./settleTurn.js";
import type { StoredOutcome } from "./storedOutcome.js";

/** The end of an execution that gave no receipt. */
export interface ExecutionLoss {
  readonly executionId: string;
  readonly outcome: "failed" | "unknown" | "interrupted";
  readonly failure: StoredFailure;
  /** Whether a Stop was latched; then a message's turn is not run again. Default false. */
  readonly stopped?: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What became of it: an outcome that is there already stands. */
export type ExecutionLossResult =
  | { readonly kind: "lost"; readonly effects: DeliveryEffects; readonly paused: boolean }
  | { readonly kind: "settled_before"; readonly outcome: StoredOutcome }
  | { readonly kind: "unknown_execution" };

/**
 * Settles an execution that was lost or stopped before it gave a result. An unknown outcome pauses its session where the
 * session says so, and waits to be told.
 */
export const loseExecution = defineCommand<ExecutionLoss, ExecutionLossResult>({
  name: "execution.lose",
  run(tx, { executionId, outcome, failure, stopped = false, now }) {
    const execution = executionRow(tx, executionId);
    if (execution === undefined) return { kind: "unknown_execution" };
    if (execution.outcome !== null) return { kind: "settled_before", outcome: execution.outcome };
    tx.run("UPDATE executions SET state = 'lost' WHERE execution_id = ?", executionId);
    const effects = settleTurn(tx, { execution, outcome, failure, stopped, text: "", now });
    if (outcome === "unknown") {
      tx.run("INSERT INTO untold (input_id, telling) VALUES (?1, 'event'), (?1, 'command')", execution.input_id);
    }
    const session = tx.get<{ on_unknown: string }>(
      "SELECT on_unknown FROM sessions WHERE session_id = ?",
      execution.session_id,
    );
    const paused = outcome === "unknown" && session?.on_unknown === "pause";
    if (paused) {
      tx.run("UPDATE sessions SET paused_execution_id = ? WHERE session_id = ?", executionId, execution.session_id);
    }
    return { kind: "lost", effects, paused };
  },
});
