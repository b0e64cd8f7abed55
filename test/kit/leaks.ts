import { readdirSync } from "node:fs";

import { descendantsOf } from "../../src/base/processTable.js";
import { waitFor } from "./waitFor.js";

/** What a test file must leave as it found it. */
export interface Belongings {
  /** Child processes by pid. */
  readonly children: ReadonlySet<number>;
  /** Open sockets, pipes and timers of this process that keep it alive. */
  readonly handles: number;
}

/** Notes what there is. */
export function noteBelongings(): Belongings {
  return { children: new Set(childPids()), handles: openHandles() };
}

/**
 * Waits until nothing is left that was not there before.
 * @param folder must be empty; undefined for none.
 * @throws Error naming what is left.
 */
export async function expectNothingLeft(before: Belongings, folder?: string): Promise<void> {
  await waitFor("nothing is left behind", () => {
    const children = childPids().filter((pid) => !before.children.has(pid));
    const handles = openHandles() - before.handles;
    const files = folder === undefined ? [] : readdirSync(folder);
    return children.length === 0 && handles <= 0 && files.length === 0
      ? { found: true }
      : { state: { children, handles: process.getActiveResourcesInfo(), files } };
  });
}

function childPids(): readonly number[] {
  return descendantsOf(process.pid).map(({ pid }) => pid);
}

function openHandles(): number {
  return process.getActiveResourcesInfo().filter((kind) => /Pipe|TCP|Process|Timeout/.test(kind)).length;
}
