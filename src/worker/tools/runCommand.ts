import { spawn } from "node:child_process";

import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import { childEnd, type EndedBy } from "../processes/childEnd.js";
import { BoundedOutput } from "./boundedOutput.js";

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
  readonly by: EndedBy;
  /** What it printed, bounded. */
  readonly output: string;
  readonly durationMs: number;
}

const OUTPUT = { head: 16_384, tail: 32_768 } as const;
/** A command that prints more is ended, bytes. */
const FLOOD_BYTES = 64 * 1_048_576;

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
  const flood = createDeferred<void>();
  const take = (piece: Buffer): void => {
    output.add(piece);
    if (output.total > FLOOD_BYTES) flood.resolve();
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const by = await childEnd(child, { clock, signal, timeoutMs, flooded: flood.promise }).catch((error: unknown) => {
    throw new Error(`The command cannot be started: ${(error as Error).message}.`);
  });
  return { code: child.exitCode ?? undefined, by, output: output.text(), durationMs: clock.monotonic() - startedAt };
}
