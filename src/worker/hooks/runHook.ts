import { spawn } from "node:child_process";

import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import { readProcess } from "../../base/processTable.js";
import { killTree } from "../tools/killTree.js";

/** A hook about to run. */
export interface HookRun {
  readonly command: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** One JSON document, on its standard input. */
  readonly input: string;
  /** Longest time, milliseconds. */
  readonly timeoutMs: number;
  /** Ends it early. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** What became of a hook. */
export interface HookEnd {
  /** What it printed, at most {@link OUTPUT_BYTES}. */
  readonly output: string;
  /** What went wrong, a predicate such as `exited with code 1`; undefined where it ended well. */
  readonly problem: string | undefined;
}

/** What is kept of a hook's standard output, bytes; the rest is read and dropped. */
export const OUTPUT_BYTES = 262_144;
/** What is kept of its standard error, for the log, bytes. */
const ERROR_BYTES = 4_096;
/** A program that a hook leaves behind may hold its pipes: after the hook's end they are read for so long, milliseconds. */
const LAST_OUTPUT_MS = 200;

/**
 * Runs a hook in the worker's own process group and waits for its end. One that takes too long is killed with everything that it
 * started. Never throws.
 */
export async function runHook({ command, env, input, timeoutMs, signal, clock }: HookRun): Promise<HookEnd> {
  if (signal.aborted) return { output: "", problem: "was not run: there was no time left" };
  const [program = "", ...rest] = command;
  const ended = createDeferred<string | undefined>();
  const closed = createDeferred<void>();
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  const child = spawn(program, rest, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: false });
  // Read at once: only a process that is known by its birth may be signalled.
  const root = child.pid === undefined ? undefined : readProcess(child.pid);
  child.once("error", (error: NodeJS.ErrnoException) => {
    ended.resolve(`cannot be started: ${error.code ?? error.message}`);
    closed.resolve();
  });
  child.once("exit", (code, by) => {
    if (by !== null) ended.resolve(`was killed by ${by}`);
    else ended.resolve(code === 0 ? undefined : `exited with code ${String(code)}`);
  });
  child.once("close", () => {
    closed.resolve();
  });
  collect(child.stdout, output, OUTPUT_BYTES);
  collect(child.stderr, errors, ERROR_BYTES);
  // A hook need not read what it is told.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);

  const tooLong = createDeferred<"late" | "stopped">();
  const cancel = clock.after(timeoutMs, () => {
    tooLong.resolve("late");
  });
  const onAbort = (): void => {
    tooLong.resolve("stopped");
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const first = await Promise.race([ended.promise, tooLong.promise.then((why) => ({ why }))]);
  cancel();
  signal.removeEventListener("abort", onAbort);
  if (typeof first === "object") {
    if (root !== undefined) await killTree(root, clock);
    child.stdout.destroy();
    child.stderr.destroy();
    const late = `took longer than ${String(timeoutMs)} ms and was killed`;
    return { output: "", problem: first.why === "late" ? late : "was killed: there was no time left" };
  }
  const cancelLast = clock.after(LAST_OUTPUT_MS, () => {
    child.stdout.destroy();
    child.stderr.destroy();
  });
  await closed.promise;
  cancelLast();
  const said = Buffer.concat(errors).toString("utf8").trim();
  return {
    output: Buffer.concat(output).toString("utf8"),
    problem: first === undefined ? undefined : `${first}${said === "" ? "" : `: ${said}`}`,
  };
}

function collect(stream: NodeJS.ReadableStream, kept: Buffer[], bytes: number): void {
  let left = bytes;
  stream.on("data", (chunk: Buffer) => {
    if (left > 0) kept.push(chunk.subarray(0, left));
    left -= chunk.length;
  });
  stream.on("error", () => undefined);
}
