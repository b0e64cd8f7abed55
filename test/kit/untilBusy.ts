import { processorMsOf } from "../../src/base/processorTime.js";
import { readProcess } from "../../src/base/processTable.js";
import { waitUntil } from "./waitFor.js";

/** Processor time, milliseconds, that a turn's beginning does not use and a loop that spins uses at once. */
const SPINS_AFTER_MS = 300;

/**
 * Waits until a process spins. A loop that is kept busy cannot say so itself, and what was said before says only that it
 * is about to.
 */
export async function untilBusy(pid: number): Promise<void> {
  const facts = readProcess(pid);
  if (facts === undefined) throw new Error(`process ${String(pid)} has ended`);
  const used = (): number => processorMsOf([facts]);
  const before = used();
  await waitUntil(
    `process ${String(pid)} spins`,
    () => used() - before >= SPINS_AFTER_MS,
    () => used() - before,
  );
}
