import { failureColumn } from "../storedFailure.js";
import type { Tx } from "../sql.js";
import type { DeliveryEffects } from "./deliveryEffects.js";
import { noEffects } from "./deliveryEffects.js";
import { retryOf, type EndedTurn, type RetryMode } from "./turnRetry.js";

/** The end of a turn that an input started. */
export interface TurnToRetry extends Omit<EndedTurn, "retried"> {
  readonly inputId: string;
  readonly executionId: string;
}

interface Carried {
  readonly sequence: number;
  readonly deliveryId: string;
  readonly retried: string | null;
}

/** How a turn that has just ended is to be run again; undefined where its end stands, as it does for every turn of a client's. */
export function retryOfTurn(tx: Tx, turn: TurnToRetry): RetryMode | undefined {
  if (turn.outcome !== "failed") return undefined;
  const carried = carriedBy(tx, turn);
  return carried === undefined ? undefined : retryOf({ ...turn, retried: carried.retried !== null });
}

/**
 * Puts a message's input back at the head of its lane, in the transaction that records how its turn failed. The message stays
 * CLAIMED, with the failure as its last error; the transcript keeps its text once. @returns undefined where the end stands.
 */
export function retryDelivery(tx: Tx, turn: TurnToRetry, now: number): DeliveryEffects | undefined {
  const mode = retryOfTurn(tx, turn);
  const carried = mode === undefined ? undefined : carriedBy(tx, turn);
  if (mode === undefined || carried === undefined) return undefined;
  tx.run(`UPDATE inputs SET state = 'queued', execution_id = NULL, started_at = NULL WHERE input_id = ?`, turn.inputId);
  tx.run("UPDATE turn_totals SET started = started - 1");
  tx.run(
    `UPDATE deliveries SET attempts = attempts + 1, last_error = ?, retry_mode = ?, retried_execution_id = ?, execution_id = NULL,
       revision = revision + 1, updated_at = ? WHERE sequence = ?`,
    failureColumn(turn.failure),
    mode,
    turn.executionId,
    now,
    carried.sequence,
  );
  const effects = noEffects();
  effects.changed.push(carried.deliveryId);
  return effects;
}

function carriedBy(tx: Tx, { inputId, executionId }: TurnToRetry): Carried | undefined {
  return tx.get<Carried>(
    `SELECT deliveries.sequence AS sequence, deliveries.delivery_id AS deliveryId, retried_execution_id AS retried
     FROM inputs JOIN deliveries USING (delivery_id)
     WHERE inputs.input_id = ? AND deliveries.state = 'claimed' AND deliveries.execution_id = ?`,
    inputId,
    executionId,
  );
}
