/** Who waits for what happens to something, by its key. */
export interface KeyedListeners {
  /** How many keys somebody waits for. */
  readonly size: number;
  /** Calls `run` at each {@link tell} of the key. @returns what takes the request back. */
  on(key: string, run: () => void): () => void;
  /** Calls whoever waits for a key. */
  tell(key: string): void;
  /** Calls whoever waits for anything. */
  tellAll(): void;
}

/** Makes one that nobody waits at. */
export function createKeyedListeners(): KeyedListeners {
  const byKey = new Map<string, Set<() => void>>();
  const tell = (key: string): void => {
    for (const run of [...(byKey.get(key) ?? [])]) run();
  };
  return {
    get size() {
      return byKey.size;
    },
    on(key, run) {
      // The same function may wait twice.
      const once = (): void => {
        run();
      };
      const waiting = byKey.get(key) ?? new Set();
      byKey.set(key, waiting.add(once));
      return () => {
        waiting.delete(once);
        if (waiting.size === 0 && byKey.get(key) === waiting) byKey.delete(key);
      };
    },
    tell,
    tellAll() {
      for (const key of [...byKey.keys()]) tell(key);
    },
  };
}
