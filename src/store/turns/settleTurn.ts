import { endDeliveryByTurn } from "../deliveries/endDeliveryByTurn.js";
import { retryDelivery } from "../deliveries/retryDelivery.js";
import type { Tx } from "../sql.js";
import type { StoredFailure } from "../storedFailure.js";
import { failureColumn } from "../storedFailure.js";
import { appendMessages } from "./appendMessages.js";
import { cancelWaitingChildren } from "./cancelWaitingChildren.js";
import type { DeliveryEffects } from "../deliveries/deliveryEffects.js";
import { noEffects } from "../deliveries/deliveryEffects.js";
import type { ExecutionRow } from "./executionRow.js";
import { noteChildEnd } from "./noteChildEnd.js";
import { GATEWAY_AUTHOR } from "./storedAuthor.js";
import type { StoredOutcome } from "./storedOutcome.js";
import { touchSession } from "./touchSession.js";

/** The end of a started turn. */
export interface TurnSettlement {
  readonly execution: ExecutionRow;
  readonly outcome: Exclude<StoredOutcome, "cancelled">;
  readonly failure?: StoredFailure;
  /** Whether a Stop was latched; then a message's turn is not run again. Default false. */
  readonly stopped?: boolean;
  /** The answer; empty for none. */
  readonly text: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Writes a turn's one outcome on its input and execution, ends its open prompts and the delivery that brought it, and marks
 * the transcript where there is no answer. A message's turn whose failure may pass goes back to the head of its lane instead,
 * once, and its input and delivery stay open. The caller has checked that no outcome is there yet.
 */
export function settleTurn(tx: Tx, settlement: TurnSettlement): DeliveryEffects {
  const { execution, outcome, failure, stopped = false, text, now } = settlement;
  const { execution_id: executionId, input_id: inputId } = execution;
  tx.run("UPDATE executions SET outcome = ?, ended_at = ? WHERE execution_id = ?", outcome, now, executionId);
  tx.run(
    "UPDATE prompts SET end = 'execution_ended', ended_at = ? WHERE execution_id = ? AND end IS NULL",
    now,
    executionId,
  );
  cancelWaitingChildren(tx, execution.execution_id, now);
  const retried = retryDelivery(tx, { inputId, executionId, outcome, failure, stopped, now });
  if (retried !== undefined) {
    touchSession(tx, execution.session_id, now);
    return retried;
  }
  tx.run(
    "UPDATE inputs SET state = 'ended', outcome = ?, failure = ?, ended_at = ? WHERE input_id = ?",
    outcome,
    failureColumn(failure),
    now,
    inputId,
  );
  tx.run("UPDATE turn_totals SET ended = ended + 1");
  noteChildEnd(tx, { sessionId: execution.session_id, outcome, text, now });
  if (text === "" && outcome !== "completed") writeBoundary(tx, execution, outcome, failure, now);
  touchSession(tx, execution.session_id, now);
  const input = tx.get<{ delivery_id: string | null }>("SELECT delivery_id FROM inputs WHERE input_id = ?", inputId);
  if (input === undefined || input.delivery_id === null) return noEffects();
  return endDeliveryByTurn(tx, {
    deliveryId: input.delivery_id,
    executionId,
    end: { outcome, text, ...(failure === undefined ? {} : { failure }) },
    now,
  });
}

/** A row that keeps the next turn from taking an unanswered question for an open one. */
function writeBoundary(
  tx: Tx,
  execution: ExecutionRow,
  outcome: TurnSettlement["outcome"],
  failure: StoredFailure | undefined,
  now: number,
): void {
  const what = {
    completed: "The turn ended.",
    failed: "The turn failed and gave no answer.",
    interrupted: "The turn was stopped and gave no answer.",
    unknown: "The turn's outcome is unknown: it may have had effects. It will not be run again by itself.",
  }[outcome];
  const text = failure === undefined ? what : `${what} (${failure.reason})`;
  appendMessages(
    tx,
    execution.session_id,
    [{ role: "system", text, author: GATEWAY_AUTHOR, executionId: execution.execution_id, boundary: true }],
    now,
  );
}
