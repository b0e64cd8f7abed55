import type { ProcessFacts } from "../../base/processIdentity.js";

/** Dead children that were there at a look: births by process id. */
export type Zombies = ReadonlyMap<number, bigint>;

/** The dead processes whose parent is `parentPid`. */
export function zombiesOf(parentPid: number, processes: readonly ProcessFacts[]): Zombies {
  return new Map(
    processes
      .filter((facts) => facts.parentPid === parentPid && facts.state === "Z")
      .map(({ pid, birthTicks }) => [pid, birthTicks]),
  );
}

/**
 * Those that were dead at two looks, with a turn of the event loop between them. Node takes up the end of each child that it
 * started itself within one turn; who is still there was started by somebody else, and nobody waits for it.
 */
export function abandoned(before: Zombies, at: Zombies): readonly number[] {
  return [...at].filter(([pid, birth]) => before.get(pid) === birth).map(([pid]) => pid);
}
