import { createHash } from "node:crypto";

import type { ProcessTable } from "../../base/processTable.js";
import { ancestorsOf, readProcess } from "../../base/processTable.js";
import type { Launch } from "./launch.js";

/** How far up a stranger's line is searched for a launch that dropped its pipe. */
const SEARCH_DEPTH = 8;

/** The launches that wait for their worker, by the digest of their one-time token. */
export class LaunchTokens {
  readonly #waiting = new Map<string, Launch>();
  readonly #table: ProcessTable;

  constructor(table: ProcessTable) {
    this.#table = table;
  }

  /** Expects a worker that brings this token. */
  expect(token: Uint8Array, launch: Launch): void {
    this.#waiting.set(digest(token), launch);
  }

  /** The launch that a token was given to. A token works once. */
  redeem(token: Uint8Array): Launch | undefined {
    const key = digest(token);
    const launch = this.#waiting.get(key);
    this.#waiting.delete(key);
    return launch;
  }

  /** Stops waiting for a launch. */
  forget(launch: Launch): void {
    for (const [key, waiting] of this.#waiting) if (waiting === launch) this.#waiting.delete(key);
  }

  /** The waiting launch that a process comes from: how a worker without a token is told from a stranger. */
  launchOf(pid: number): Launch | undefined {
    const facts = readProcess(pid, this.#table);
    if (facts === undefined) return undefined;
    const line = [facts, ...ancestorsOf(pid, SEARCH_DEPTH, this.#table)];
    return [...this.#waiting.values()].find((launch) =>
      line.some((one) => one.pid === launch.process.pid && one.birthTicks === launch.process.birthTicks),
    );
  }
}

function digest(token: Uint8Array): string {
  return createHash("sha256").update(token).digest("hex");
}
