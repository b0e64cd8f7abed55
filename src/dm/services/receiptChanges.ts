import type { DeliveryHub } from "../deliveryHub.js";

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
  const byScope = new Map<string, Set<() => void>>();
  const tell = (scope: string | undefined): void => {
    for (const run of [...(byScope.get(scope ?? "") ?? [])]) run();
  };
  hub.onAny((deliveryIds) => {
    // Whose each is costs a look into the store; so does every watch that is told.
    if (deliveryIds.length >= byScope.size) for (const scope of [...byScope.keys()]) tell(scope);
    else for (const scope of new Set(deliveryIds.map(scopeOf))) tell(scope);
  });
  return {
    onScope(scope, run) {
      const once = (): void => {
        run();
      };
      const waiting = byScope.get(scope) ?? new Set();
      byScope.set(scope, waiting.add(once));
      return () => {
        waiting.delete(once);
        if (waiting.size === 0 && byScope.get(scope) === waiting) byScope.delete(scope);
      };
    },
  };
}
