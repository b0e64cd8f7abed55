import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { cancelQueuedInput } from "../turns/cancelQueuedInput.js";
import { noEffects, type DeliveryEffects } from "./deliveryEffects.js";
import { isEnded } from "./deliveryState.js";
import { moveDelivery } from "./moveDelivery.js";
import { readDelivery } from "./readDelivery.js";
import type { StoredDelivery } from "./storedDelivery.js";
import { CANCELLED_BY_SENDER } from "./storedReasons.js";

/** What came of a wish to withdraw a delivery. */
export type Cancellation =
  | { readonly kind: "cancelled"; readonly delivery: StoredDelivery; readonly effects: DeliveryEffects }
  /** The far side holds it, or may: ask it. */
  | { readonly kind: "far"; readonly delivery: StoredDelivery }
  /** Its turn has started here. */
  | { readonly kind: "started"; readonly delivery: StoredDelivery }
  | { readonly kind: "ended"; readonly delivery: StoredDelivery }
  | { readonly kind: "missing" };

/** Which delivery to withdraw. */
export interface CancelRequest {
  readonly deliveryId: string;
  /** Whether an attempt at it is on its way to a far side: whether that arrives is not known. */
  readonly inFlight: boolean;
  /** Whether its far side has said that it does not hold it, while nothing was on its way there: then no doubt is left. */
  readonly unknownThere?: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Withdraws a delivery that has not started and that no far side may hold. */
export const cancelDelivery = defineCommand({ name: "delivery.cancel", run: cancel });

function cancel(tx: Tx, { deliveryId, inFlight, unknownThere = false, now }: CancelRequest): Cancellation {
  const delivery = readDelivery(tx, deliveryId);
  if (delivery === undefined) return { kind: "missing" };
  if (isEnded(delivery.state)) return { kind: "ended", delivery };
  const far = delivery.recipientGateway !== "";
  if (delivery.state === "claimed" && far) return { kind: "far", delivery };
  if (far && (inFlight || (delivery.undecided && !unknownThere))) return { kind: "far", delivery };
  // The input of a claimed one waits only between a turn that failed and its retry.
  if (delivery.inputId !== undefined && !cancelQueuedInput(tx, { inputId: delivery.inputId, now })) {
    return { kind: "started", delivery };
  }
  const effects = noEffects();
  // What waited behind the retry of a message that met a limit need not wait with it.
  if (delivery.inputId !== undefined) effects.wake.push(sessionOf(tx, delivery.inputId));
  const moved = moveDelivery(tx, delivery, "cancel", { now, failure: CANCELLED_BY_SENDER }, effects);
  return moved === undefined ? { kind: "ended", delivery } : { kind: "cancelled", delivery: moved, effects };
}

function sessionOf(tx: Tx, inputId: string): string {
  return tx.get<{ id: string }>("SELECT session_id AS id FROM inputs WHERE input_id = ?", inputId)?.id ?? "";
}
