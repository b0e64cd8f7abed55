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
  const byDelivery = new Map<string, Set<() => void>>();
  const any = new Set<(deliveryIds: readonly string[]) => void>();
  return {
    notify(deliveryIds) {
      if (deliveryIds.length === 0) return;
      for (const id of new Set(deliveryIds)) for (const run of [...(byDelivery.get(id) ?? [])]) run();
      for (const run of [...any]) run(deliveryIds);
    },
    onDelivery(deliveryId, run) {
      const once = (): void => {
        run();
      };
      const waiting = byDelivery.get(deliveryId) ?? new Set();
      byDelivery.set(deliveryId, waiting.add(once));
      return () => {
        waiting.delete(once);
        if (waiting.size === 0 && byDelivery.get(deliveryId) === waiting) byDelivery.delete(deliveryId);
      };
    },
    onAny(run) {
      const once = (deliveryIds: readonly string[]): void => {
        run(deliveryIds);
      };
      any.add(once);
      return () => void any.delete(once);
    },
  };
}
