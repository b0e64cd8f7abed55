import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { cancelQueuedInput } from "../turns/cancelQueuedInput.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { moveDelivery, removeBody } from "./moveDelivery.js";
import type { DeliveryRow } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";
import { MESSAGE_EXPIRED } from "./storedReasons.js";

/** Rows of one sweep, so that it does not hold the writer. */
const SWEEP_ROWS = 256;

/** When the sweep runs, epoch milliseconds, and how long a dead letter keeps its body, milliseconds. */
export interface SweepRequest {
  readonly now: number;
  readonly deadLetterBodyMs: number;
}

/** What a sweep did. */
export interface SweepResult {
  readonly effects: DeliveryEffects;
  /** Whether more is due. */
  readonly more: boolean;
}

/**
 * Ends waiting messages of this gateway's own lanes whose time ran out, and removes the bodies of dead letters that were kept
 * long enough. Messages to other gateways are left to their transport, which knows what was accepted.
 */
export const sweepDeliveries = defineCommand({ name: "delivery.sweep", run: sweep });

function sweep(tx: Tx, { now, deadLetterBodyMs }: SweepRequest): SweepResult {
  const effects = noEffects();
  const due = tx.all<DeliveryRow>(
    `SELECT * FROM deliveries WHERE state = 'queued' AND expires_at < ? AND recipient_gateway = ''
     ORDER BY expires_at LIMIT ?`,
    now,
    SWEEP_ROWS,
  );
  for (const delivery of due.map(deliveryFromRow)) {
    // An input that has left the queue without a claim is about to be claimed; that decides.
    if (delivery.inputId !== undefined && !cancelQueuedInput(tx, { inputId: delivery.inputId, now })) continue;
    moveDelivery(tx, delivery, "expire", { now, failure: MESSAGE_EXPIRED }, effects);
  }
  const kept = tx.all<{ sequence: number }>(
    "SELECT sequence FROM deliveries WHERE body IS NOT NULL AND ended_at IS NOT NULL AND ended_at <= ? LIMIT ?",
    now - deadLetterBodyMs,
    SWEEP_ROWS,
  );
  for (const { sequence } of kept) removeBody(tx, sequence);
  return { effects, more: effects.changed.length === SWEEP_ROWS || kept.length === SWEEP_ROWS };
}
