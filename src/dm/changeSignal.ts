import { createDeferred, type Deferred } from "../base/deferred.js";

/** Remembers that something changed until a loop has looked, so that no change between two looks is missed. */
export interface ChangeSignal {
  /** Says that something changed. */
  raise(): void;
  /** Resolves when something has changed since the last time it resolved; at once if it has. */
  wait(): Promise<void>;
}

/** Makes a signal that is not raised. For one loop. */
export function createChangeSignal(): ChangeSignal {
  let raised = false;
  let waiting: Deferred<void> | undefined;
  return {
    raise() {
      raised = true;
      waiting?.resolve();
    },
    async wait() {
      if (!raised) {
        waiting = createDeferred<void>();
        await waiting.promise;
        waiting = undefined;
      }
      raised = false;
    },
  };
}
