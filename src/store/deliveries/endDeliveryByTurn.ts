import { assertNever } from "../../base/assertNever.js";
import type { StoredFailure } from "../storedFailure.js";
import type { Tx } from "../sql.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { makeReply } from "./makeReply.js";
import { moveDelivery } from "./moveDelivery.js";
import { readDelivery } from "./readDelivery.js";
import { isSilence } from "./silenceMarker.js";
import type { StoredDelivery } from "./storedDelivery.js";
import { CANCELLED_BY_SENDER, OUTCOME_UNKNOWN, TURN_FAILED } from "./storedReasons.js";

/** How the turn of a delivery's input ended. */
export interface TurnEndForDelivery {
  readonly outcome: "completed" | "failed" | "interrupted" | "unknown" | "cancelled";
  /** The whole answer; empty unless completed. */
  readonly text: string;
  /** Why, where it did not complete. */
  readonly failure?: StoredFailure;
}

/** The end of a turn that a delivery started. */
export interface TurnEndRequest {
  readonly deliveryId: string;
  /** The execution that ended; another one than the delivery's own changes nothing. */
  readonly executionId: string;
  readonly end: TurnEndForDelivery;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Ends a delivery by the end of its turn, in the transaction that records that end: completed is REPLIED, or SILENT where the
 * answer is a silence marker; failed and interrupted are FAILED; unknown is UNKNOWN, which a later call with better
 * evidence resolves once. Calls that do not apply change nothing.
 */
export function endDeliveryByTurn(tx: Tx, request: TurnEndRequest): DeliveryEffects {
  const effects = noEffects();
  const delivery = readDelivery(tx, request.deliveryId);
  if (delivery === undefined) return effects;
  if (delivery.executionId !== undefined && delivery.executionId !== request.executionId) return effects;
  applyTurnEnd(tx, delivery, request.end, request.now, effects);
  return effects;
}

function applyTurnEnd(
  tx: Tx,
  delivery: StoredDelivery,
  end: TurnEndForDelivery,
  now: number,
  effects: DeliveryEffects,
): void {
  switch (end.outcome) {
    case "completed":
      if (isSilence(end.text)) moveDelivery(tx, delivery, "silence", { now }, effects);
      else moveDelivery(tx, delivery, "reply", { now, reply: makeReply(end.text) }, effects);
      return;
    case "failed":
    case "interrupted":
      moveDelivery(tx, delivery, "fail", { now, failure: end.failure ?? TURN_FAILED }, effects);
      return;
    case "unknown":
      moveDelivery(tx, delivery, "lose", { now, failure: end.failure ?? OUTCOME_UNKNOWN }, effects);
      return;
    case "cancelled":
      moveDelivery(tx, delivery, "cancel", { now, failure: end.failure ?? CANCELLED_BY_SENDER }, effects);
      return;
    default:
      assertNever(end.outcome, "turn outcome");
  }
}
