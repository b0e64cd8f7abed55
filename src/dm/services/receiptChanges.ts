import type { DeliveryHub } from "../deliveryHub.js";
import { createKeyedListeners } from "../keyedListeners.js";

/** Tells watches of receipts that there is something for them: thousands of peers watch, and a change concerns one of them. */
export interface ReceiptChanges {
  /** Calls `run` when deliveries of a principal scope have changed, and sometimes when they have not. @returns what takes the request back. */
  onScope(scope: string, run: () => void): () => void;
}

/**
 * Makes one that nobody waits at; it listens to the hub for good.
 * @param scopeOf says which principal scope a delivery is of; undefined where it is gone
 */
export function createReceiptChanges(
  hub: Pick<DeliveryHub, "onAny">,
  scopeOf: (deliveryId: string) => string | undefined,
): ReceiptChanges {
  const scopes = createKeyedListeners();
  hub.onAny((deliveryIds) => {
    // Whose each is costs a look into the store; so does every watch that is told.
    if (deliveryIds.length >= scopes.size) scopes.tellAll();
    else for (const scope of new Set(deliveryIds.map(scopeOf))) if (scope !== undefined) scopes.tell(scope);
  });
  return { onScope: (scope, run) => scopes.on(scope, run) };
}
