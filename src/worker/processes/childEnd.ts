import type { ChildProcess } from "node:child_process";

import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import { readProcess } from "../../base/processTable.js";
import { within } from "../../base/within.js";
import { killTree } from "./killTree.js";

/** Who ended a program; `itself` also for a signal from elsewhere. */
export type EndedBy = "itself" | "timeout" | "flood" | "stop";

/** How long a program may go on. */
export interface ChildBounds {
  readonly clock: Clock;
  /** Ends it early. */
  readonly signal: AbortSignal;
  /** Longest time, milliseconds. */
  readonly timeoutMs: number;
  /** Resolves when it has printed too much; absent for a program that may print without end. */
  readonly flooded?: Promise<void>;
}

/** How long the output of a program that has ended is waited for, milliseconds: what it left behind may hold it open. */
const LINGER_MS = 200;

/**
 * Waits for the end of a program that was just spawned, and for the last of its output. One that goes beyond its bounds is killed with
 * everything that it has started.
 * @throws the error of a program that cannot be started
 */
export async function childEnd(child: ChildProcess, bounds: ChildBounds): Promise<EndedBy> {
  const { clock, signal, timeoutMs, flooded } = bounds;
  // Read at once: only a process that is known by its birth may be signalled.
  const root = child.pid === undefined ? undefined : readProcess(child.pid);
  const over = createDeferred<EndedBy>();
  const closed = createDeferred<void>();
  child.once("error", over.reject);
  child.once("exit", () => {
    over.resolve("itself");
  });
  child.once("close", () => {
    closed.resolve();
  });
  void flooded?.then(() => {
    over.resolve("flood");
  });
  const cancel = clock.after(timeoutMs, () => {
    over.resolve("timeout");
  });
  const onStop = (): void => {
    over.resolve("stop");
  };
  signal.addEventListener("abort", onStop, { once: true });
  if (signal.aborted) onStop();
  try {
    const by = await over.promise;
    if (by === "itself") await within(clock, LINGER_MS, closed.promise);
    else if (root !== undefined) await killTree(root, clock);
    return by;
  } finally {
    cancel();
    signal.removeEventListener("abort", onStop);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
