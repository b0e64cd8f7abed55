import { spawn, type ChildProcess } from "node:child_process";

import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import { readProcess } from "../../base/processTable.js";
import { BoundedOutput } from "./boundedOutput.js";
import { killTree } from "./killTree.js";

/** What {@link runCommand} needs. */
export interface CommandRun {
  readonly argv: readonly [string, ...string[]];
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Ends the command when it aborts. */
  readonly signal: AbortSignal;
  /** Longest time, milliseconds. */
  readonly timeoutMs: number;
}

/** How a command ended. */
export interface CommandEnd {
  /** Exit code; undefined where it was killed. */
  readonly code: number | undefined;
  /** Who ended it; `itself` also for a signal from elsewhere. */
  readonly by: "itself" | "timeout" | "flood" | "stop";
  /** What it printed, bounded. */
  readonly output: string;
  readonly durationMs: number;
}

const OUTPUT = { head: 16_384, tail: 32_768 } as const;
/** A command that prints more is ended, bytes. */
const FLOOD_BYTES = 64 * 1_048_576;
/** How long the output of a command that has ended is waited for, milliseconds: what it left behind may hold it open. */
const LINGER_MS = 200;

/**
 * Runs a command in the worker's process group, so that it ends with the turn whatever happens to the worker.
 * @throws Error where it cannot be started
 */
export async function runCommand({
  argv,
  directory,
  environment,
  clock,
  signal,
  timeoutMs,
}: CommandRun): Promise<CommandEnd> {
  const startedAt = clock.monotonic();
  const [program, ...rest] = argv;
  const child = spawn(program, rest, { cwd: directory, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const output = new BoundedOutput(OUTPUT);
  const over = createDeferred<CommandEnd["by"]>();
  child.once("error", (error) => {
    over.reject(new Error(`The command cannot be started: ${error.message}.`));
  });
  child.once("exit", () => {
    over.resolve("itself");
  });
  const closed = createDeferred<void>();
  child.once("close", () => {
    closed.resolve();
  });
  const take = (piece: Buffer): void => {
    output.add(piece);
    if (output.total > FLOOD_BYTES) over.resolve("flood");
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const cancelTimer = clock.after(timeoutMs, () => {
    over.resolve("timeout");
  });
  const onStop = (): void => {
    over.resolve("stop");
  };
  signal.addEventListener("abort", onStop, { once: true });
  if (signal.aborted) onStop();
  try {
    const by = await over.promise;
    if (by === "itself") await atMost(LINGER_MS, closed.promise, clock);
    else await endTree(child, clock);
    return { code: child.exitCode ?? undefined, by, output: output.text(), durationMs: clock.monotonic() - startedAt };
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", onStop);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

async function endTree({ pid }: ChildProcess, clock: Clock): Promise<void> {
  const facts = pid === undefined ? undefined : readProcess(pid);
  if (facts !== undefined) await killTree(facts, clock);
}

async function atMost(ms: number, event: Promise<void>, clock: Clock): Promise<void> {
  const late = createDeferred<void>();
  const cancel = clock.after(ms, () => {
    late.resolve();
  });
  await Promise.race([event, late.promise]);
  cancel();
}
