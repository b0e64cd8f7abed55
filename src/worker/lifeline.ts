import { Worker } from "node:worker_threads";
import { createDeferred } from "../base/deferred.js";
import type { LifelineEvent, LifelineOrder } from "./lifelineMessages.js";

/** The main loop's view of the launch pipe, which a thread watches. */
export interface Lifeline {
  /** The one-time token as text; empty where the pipe ended, or held something else, first. Never rejects. */
  readonly token: Promise<string>;
  /** Aborts when the launch pipe has ended: the owner is gone. */
  readonly ownerGone: AbortSignal;
  /** Sets how long the process may live without its owner, milliseconds. */
  setGrace(ms: number): void;
  /** Says that the owner is gone although the pipe has not ended: the grace begins at once. */
  orphaned(): void;
}

/** Starts the thread. When the grace is over it kills the launch's process group, whatever the main loop does. */
export function startLifeline(script: URL, graceMs: number): Lifeline {
  const token = createDeferred<string>();
  const gone = new AbortController();
  const thread = new Worker(script, { workerData: { graceMs }, stdin: false });
  // The attach call keeps the process alive; the thread must not hold up its exit.
  thread.unref();
  thread.on("message", (event: LifelineEvent) => {
    switch (event.kind) {
      case "token":
        token.resolve(event.token);
        break;
      case "noToken":
        token.resolve("");
        break;
      case "ownerGone":
        gone.abort();
        break;
    }
  });
  // Without its lifeline a worker must not go on.
  thread.on("error", () => {
    token.resolve("");
    gone.abort();
  });
  const order = (message: LifelineOrder): void => {
    thread.postMessage(message);
  };
  return {
    token: token.promise,
    ownerGone: gone.signal,
    setGrace: (ms) => {
      order({ kind: "grace", ms });
    },
    orphaned: () => {
      order({ kind: "orphaned" });
    },
  };
}
