import type { Budgets } from "../../base/budgets.js";

/** How long a message may wait for a connector, milliseconds. Source: DESIGN section 8. */
export function relayLifeMs({ relayTtlMs, messageLifetimeMs }: Budgets): number {
  return Math.min(relayTtlMs, messageLifetimeMs);
}
