import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { cancelQueuedInput } from "../turns/cancelQueuedInput.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { moveDelivery, removeBody } from "./moveDelivery.js";
import type { DeliveryRow, StoredDelivery } from "./storedDelivery.js";
import { deliveryFromRow } from "./storedDelivery.js";
import { MESSAGE_EXPIRED, OUTCOME_UNKNOWN } from "./storedReasons.js";

/** Rows of one sweep, so that it does not hold the writer. */
const SWEEP_ROWS = 256;

/** What a sweep needs to know. */
export interface SweepRequest {
  /** Epoch milliseconds. */
  readonly now: number;
  /** How long a dead letter keeps its body, milliseconds. */
  readonly deadLetterBodyMs: number;
  /** How long after its expiry a far gateway can still be asked about a message, milliseconds. */
  readonly farGraceMs: number;
  /** Messages whose attempt is on its way to another gateway. */
  readonly inFlight: readonly string[];
}

/** What a sweep did. */
export interface SweepResult {
  readonly effects: DeliveryEffects;
  /** Whether more is due. */
  readonly more: boolean;
}

/**
 * Ends waiting messages whose time ran out and that nobody has accepted, gives up those whose far gateway can no longer be asked,
 * and removes the bodies of dead letters that were kept long enough.
 */
export const sweepDeliveries = defineCommand({ name: "delivery.sweep", run: sweep });

function sweep(tx: Tx, request: SweepRequest): SweepResult {
  const { now, farGraceMs, inFlight } = request;
  const effects = noEffects();
  const skipped = new Set(inFlight);
  for (const delivery of overdue(tx, now, "state = 'queued' AND undecided = 0")) {
    if (skipped.has(delivery.deliveryId)) continue;
    // An input that has left the queue without a claim is about to be claimed; that decides.
    if (delivery.inputId !== undefined && !cancelQueuedInput(tx, { inputId: delivery.inputId, now })) continue;
    moveDelivery(tx, delivery, "expire", { now, failure: MESSAGE_EXPIRED }, effects);
  }
  for (const delivery of overdue(tx, now - farGraceMs, "recipient_gateway <> ''")) {
    if (!skipped.has(delivery.deliveryId)) loseFar(tx, delivery, now, effects);
  }
  const bodies = dropBodies(tx, now - request.deadLetterBodyMs);
  return { effects, more: effects.changed.length >= SWEEP_ROWS || bodies === SWEEP_ROWS };
}

/** Gives up a message that another gateway may have accepted: what may have been accepted counts as accepted, then as lost. */
export function loseFar(tx: Tx, delivery: StoredDelivery, now: number, effects: DeliveryEffects): void {
  const claimed = delivery.state === "queued" ? moveDelivery(tx, delivery, "claim", { now }, effects) : delivery;
  if (claimed !== undefined) moveDelivery(tx, claimed, "lose", { now, failure: OUTCOME_UNKNOWN }, effects);
}

function overdue(tx: Tx, before: number, condition: string): readonly StoredDelivery[] {
  return tx
    .all<DeliveryRow>(
      `SELECT * FROM deliveries WHERE ended_at IS NULL AND expires_at < ? AND ${condition}
       ORDER BY expires_at LIMIT ?`,
      before,
      SWEEP_ROWS,
    )
    .map(deliveryFromRow);
}

function dropBodies(tx: Tx, endedBefore: number): number {
  const kept = tx.all<{ sequence: number }>(
    "SELECT sequence FROM deliveries WHERE body IS NOT NULL AND ended_at IS NOT NULL AND ended_at <= ? LIMIT ?",
    endedBefore,
    SWEEP_ROWS,
  );
  for (const { sequence } of kept) removeBody(tx, sequence);
  return kept.length;
}
