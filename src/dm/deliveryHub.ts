import { createKeyedListeners } from "./keyedListeners.js";

/** Tells watchers inside this process that deliveries have changed. Carries no state: who is told reads the store again. */
export interface DeliveryHub {
  /** Says that these deliveries have changed; to be called after the commit. */
  notify(deliveryIds: readonly string[]): void;
  /** Calls `run` when a delivery changes. @returns what takes the request back. */
  onDelivery(deliveryId: string, run: () => void): () => void;
  /** Calls `run` with their ids when any deliveries change. @returns what takes the request back. */
  onAny(run: (deliveryIds: readonly string[]) => void): () => void;
}

/** Makes a hub without watchers. */
export function createDeliveryHub(): DeliveryHub {
  const deliveries = createKeyedListeners();
  const any = new Set<(deliveryIds: readonly string[]) => void>();
  return {
    notify(deliveryIds) {
      if (deliveryIds.length === 0) return;
      for (const id of new Set(deliveryIds)) deliveries.tell(id);
      for (const run of [...any]) run(deliveryIds);
    },
    onDelivery: (deliveryId, run) => deliveries.on(deliveryId, run),
    onAny(run) {
      const once = (deliveryIds: readonly string[]): void => {
        run(deliveryIds);
      };
      any.add(once);
      return () => void any.delete(once);
    },
  };
}
