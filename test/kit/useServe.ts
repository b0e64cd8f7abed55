import { rmSync } from "node:fs";
import { afterEach } from "vitest";

import type { Budgets } from "../../src/base/budgets.js";
import { isAlive, readProcess } from "../../src/base/processTable.js";
import { type HomeFiles, writeHome } from "./homeFiles.js";
import { rowsOf, ServeProcess } from "./serveProcess.js";
import { waitUntil } from "./waitFor.js";

/** A launch as the store has it. */
export interface LaunchFacts {
  readonly pid: number;
  readonly gone_at: number | null;
}

/** Gateways in processes of their own, and their homes. */
export interface ServeFixture {
  /** Makes a home. @param more what it has besides its budgets. */
  home(budgets?: Partial<Budgets>, more?: Omit<HomeFiles, "budgets">): string;
  /** Serves a home and waits until it does. */
  serve(home: string): Promise<ServeProcess>;
}

/** Registers what ends every gateway after each test, waits for the end of its workers and removes its home. */
export function useServe(): ServeFixture {
  const homes: string[] = [];
  const served: ServeProcess[] = [];
  afterEach(async () => {
    for (const process of served.splice(0)) await process.kill();
    for (const home of homes) for (const { pid } of launchesOf(home)) await processGone(pid);
    for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
  });
  return {
    home(budgets = {}, more = {}) {
      const home = writeHome({ ...more, budgets });
      homes.push(home);
      return home;
    },
    serve(home) {
      const process = new ServeProcess(home);
      served.push(process);
      return process.serving();
    },
  };
}

/** Every launch of a home. */
export function launchesOf(home: string): LaunchFacts[] {
  return rowsOf<LaunchFacts>(home, "SELECT pid, gone_at FROM launches");
}

/** Waits for the end of a process. */
export function processGone(pid: number): Promise<void> {
  return waitUntil(`${String(pid)} is gone`, () => !isAlive(readProcess(pid)));
}
