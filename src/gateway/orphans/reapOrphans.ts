import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { ProcessTable } from "../../base/processTable.js";
import type { Reap } from "./waitForProcess.js";
import { abandoned, type Zombies, zombiesOf } from "./zombieWatch.js";

/** Between two looks, milliseconds. */
export const REAP_LOOK_MS = 1_000;

/** What {@link reapOrphans} needs. */
export interface ReapOptions {
  /** This process's id. */
  readonly pid: number;
  readonly table: ProcessTable;
  readonly reap: Reap | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Reaps what agents' tools have left behind, where this process is number 1 of its namespace, as in a container: the kernel gives it
 * every orphan, and Node waits for its own children alone. Elsewhere it does nothing.
 * @returns a function that stops it.
 */
export function reapOrphans({ pid, table, reap, clock, log }: ReapOptions): () => void {
  if (pid !== 1) return () => undefined;
  if (reap === undefined) {
    log.warn("process 1 cannot reap orphans here: run it below an init, such as docker run --init");
    return () => undefined;
  }
  let before: Zombies = new Map();
  let cancel = (): void => undefined;
  const look = (): void => {
    const at = zombiesOf(pid, table.list());
    const gone = abandoned(before, at);
    for (const orphan of gone) reap(orphan);
    if (gone.length > 0) log.debug({ count: gone.length }, "orphans reaped");
    before = at;
    cancel = clock.after(REAP_LOOK_MS, look);
  };
  look();
  return () => {
    cancel();
  };
}
