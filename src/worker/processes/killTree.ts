import type { Clock } from "../../base/clock.js";
import type { ProcessIdentity } from "../../base/processIdentity.js";
import { descendantsOf, isAlive, systemProcessTable, type ProcessTable } from "../../base/processTable.js";
import { signalProcess } from "../../base/signalProcess.js";

/** How long a process may take to end by itself, milliseconds. */
const GRACE_MS = 500;
/** How long a killed one may take, milliseconds. */
const LAST_MS = 5_000;
/** Between two looks at what is left, milliseconds: a process that is not a child of ours tells nobody of its end. */
const LOOK_AGAIN_MS = 15;

/**
 * Ends a process and everything that descends from it: asked first, then killed, each proved by pid and birth before every signal.
 * @returns whether nothing of it is left
 */
export async function killTree(
  root: ProcessIdentity,
  clock: Clock,
  table: ProcessTable = systemProcessTable,
): Promise<boolean> {
  const known = new Map<string, ProcessIdentity>();
  const note = ({ pid, birthTicks }: ProcessIdentity): void => {
    known.set(`${String(pid)}/${String(birthTicks)}`, { pid, birthTicks });
  };
  const living = (): readonly ProcessIdentity[] =>
    [...known.values()].filter(({ pid, birthTicks }) => {
      const facts = table.read(pid);
      return isAlive(facts) && facts.birthTicks === birthTicks;
    });
  note(root);
  for (const [signal, ms] of [
    ["SIGTERM", GRACE_MS],
    ["SIGKILL", LAST_MS],
  ] as const) {
    const deadline = clock.monotonic() + ms;
    const told = new Set<string>();
    do {
      // Before the signal: the children of a process that has ended are no longer found through it.
      for (const { pid } of living()) for (const child of descendantsOf(pid, table)) note(child);
      for (const one of living()) {
        const key = `${String(one.pid)}/${String(one.birthTicks)}`;
        if (!told.has(key)) signalQuietly(one, signal, table);
        told.add(key);
      }
      if (living().length === 0) return true;
      await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve));
    } while (clock.monotonic() < deadline);
  }
  return living().length === 0;
}

/** A process of another user may not be signalled; what is left is told by the result. */
function signalQuietly(target: ProcessIdentity, signal: NodeJS.Signals, table: ProcessTable): void {
  try {
    signalProcess(target, signal, { table });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}
