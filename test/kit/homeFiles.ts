import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Budgets } from "../../src/base/budgets.js";
import { toSnakeCase } from "../../src/base/budgets.js";

/** An agent as `agent.yaml` has it, with the keys of that file. */
export type AgentFile = Readonly<Record<string, unknown>>;

/** A home as data. */
export interface HomeFiles {
  /** `agent.yaml` by the agent's name; default one `echo` agent. */
  readonly agents?: Readonly<Record<string, AgentFile>>;
  /** Overrides of {@link SHORT_BUDGETS}. */
  readonly budgets?: Partial<Budgets>;
  /** Turns that run at once; default 16. */
  readonly maxWorkers?: number;
  /** Idle workers kept ready; default 0. */
  readonly poolSize?: number;
  /** Other keys of `talaria.yaml`. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Budgets that let the end of every wait be seen in a test, in the order that the rules demand. */
export const SHORT_BUDGETS: Partial<Budgets> = {
  helloMs: 30_000,
  finishWaitMs: 4_000,
  exitAfterFinishedMs: 3_000,
  turnFinalWorkMs: 300,
  stopTermAfterMs: 600,
  stopKillAfterMs: 1_200,
  stopTotalMs: 5_000,
  orphanGraceMs: 500,
  drainMs: 6_000,
  storeCallMs: 3_000,
  heartbeatIntervalMs: 250,
  heartbeatMissedMs: 5_000,
};

/** Writes a home that a gateway can be started on. @returns its root, with a short name: socket paths are bounded. */
export function writeHome(files: HomeFiles = {}): string {
  const home = mkdtempSync(join(tmpdir(), "tk-"));
  const budgets = { ...SHORT_BUDGETS, ...files.budgets };
  const config = {
    ...files.config,
    log_level: "debug",
    workers: { pool_size: files.poolSize ?? 0, max: files.maxWorkers ?? 16 },
    budgets: Object.fromEntries(Object.entries(budgets).map(([name, value]) => [toSnakeCase(name), value])),
  };
  // JSON is YAML.
  writeFileSync(join(home, "talaria.yaml"), JSON.stringify(config));
  for (const [name, agent] of Object.entries(files.agents ?? { echo: { runtime: "echo" } })) {
    const folder = join(home, "agents", name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, "agent.yaml"), JSON.stringify(agent));
  }
  return home;
}
