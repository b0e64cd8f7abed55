/** Where a delivery stands. Source: DESIGN section 5. */
export type DeliveryState =
  "queued" | "claimed" | "replied" | "silent" | "failed" | "expired" | "cancelled" | "unknown";

/** Every state, open ones first. */
export const DELIVERY_STATES: readonly DeliveryState[] = [
  "queued",
  "claimed",
  "replied",
  "silent",
  "failed",
  "expired",
  "cancelled",
  "unknown",
];

/** Whether a delivery in this state has ended (for its sender; later evidence may still resolve `unknown`). */
export function isEnded(state: DeliveryState): boolean {
  return state !== "queued" && state !== "claimed";
}

/** Whether a delivery in this state is a dead letter, which a redrive may bring back. */
export function isDead(state: DeliveryState): boolean {
  return state === "failed" || state === "expired";
}
