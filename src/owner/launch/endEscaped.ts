import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { ProcessFacts } from "../../base/processIdentity.js";
import { signalProcess } from "../../base/signalProcess.js";
import { type EscapeSearch, findEscaped } from "./findEscaped.js";

/** How long what was killed may take to be gone, milliseconds: a process that waits for a disk does not die before that. */
const LAST_MS = 5_000;
/** Between two looks at what is left, milliseconds. */
const LOOK_AGAIN_MS = 15;

/**
 * Kills what has left the group of a launch that is gone, each proved by its mark, pid and birth, and what it starts meanwhile; waits until
 * nothing is left, at most 5 s: the group alone is what a session's next input waits for without a bound. Never throws.
 * @param seen everything that ran when the group was found gone
 */
export async function endEscaped(
  search: EscapeSearch,
  seen: readonly ProcessFacts[],
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): Promise<void> {
  const { table, launch } = search;
  const ended = new Set<number>();
  try {
    const deadline = clock.monotonic() + LAST_MS;
    let left = await findEscaped(search, seen);
    while (left.length > 0 && clock.monotonic() < deadline) {
      for (const one of left) if (signalProcess(one, "SIGKILL", { table }).kind === "signalled") ended.add(one.pid);
      await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve));
      left = await findEscaped(search, table.list());
    }
    if (ended.size > 0) {
      log.warn({ launch: launch.launchId, pids: [...ended] }, "processes had left their turn's group; ended with it");
    }
    if (left.length > 0) throw new Error(`still there: ${left.map(({ pid }) => String(pid)).join(", ")}`);
  } catch (error) {
    log.error({ err: error, launch: launch.launchId }, "what has left a turn's group could not be ended");
  }
}
