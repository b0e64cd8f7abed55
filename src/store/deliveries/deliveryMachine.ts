import { assertNever } from "../../base/assertNever.js";
import type { DeliveryState } from "./deliveryState.js";

/**
 * What can happen to a delivery:
 * - `claim`: a turn is about to start, or a far side has accepted it
 * - `requeue`: proof that nothing was started
 * - `reply`, `silence`, `fail`: how its turn ended, or a permanent refusal
 * - `lose`: it may have been started, and nobody can tell what came of it
 * - `expire`: its time ran out before anybody accepted it
 * - `cancel`: withdrawn before it started, by confirmation of whoever holds it
 * - `redrive`: the next attempt epoch of a dead letter
 */
export type DeliveryEvent =
  "claim" | "requeue" | "reply" | "silence" | "fail" | "lose" | "expire" | "cancel" | "redrive";

/** Every event. */
export const DELIVERY_EVENTS: readonly DeliveryEvent[] = [
  "claim",
  "requeue",
  "reply",
  "silence",
  "fail",
  "lose",
  "expire",
  "cancel",
  "redrive",
];

/** The state that follows, or undefined where the event does not apply and nothing must change. */
export function nextDeliveryState(state: DeliveryState, event: DeliveryEvent): DeliveryState | undefined {
  switch (state) {
    case "queued":
      return fromQueued(event);
    case "claimed":
      return fromClaimed(event);
    case "unknown":
      return fromUnknown(event);
    case "failed":
    case "expired":
      return event === "redrive" ? "queued" : undefined;
    case "replied":
    case "silent":
    case "cancelled":
      return undefined;
    default:
      return assertNever(state, "delivery state");
  }
}

function fromQueued(event: DeliveryEvent): DeliveryState | undefined {
  switch (event) {
    case "claim":
      return "claimed";
    case "cancel":
      return "cancelled";
    case "expire":
      return "expired";
    case "fail":
      return "failed";
    default:
      return undefined;
  }
}

function fromClaimed(event: DeliveryEvent): DeliveryState | undefined {
  switch (event) {
    case "reply":
      return "replied";
    case "silence":
      return "silent";
    case "fail":
      return "failed";
    case "lose":
      return "unknown";
    case "cancel":
      return "cancelled";
    case "requeue":
      return "queued";
    default:
      return undefined;
  }
}

/** Evidence that arrives after all: each way out ends in a state that no evidence leaves, so it resolves once. */
function fromUnknown(event: DeliveryEvent): DeliveryState | undefined {
  switch (event) {
    case "reply":
      return "replied";
    case "silence":
      return "silent";
    case "fail":
      return "failed";
    case "cancel":
      return "cancelled";
    default:
      return undefined;
  }
}
