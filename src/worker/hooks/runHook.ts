import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

import type { Clock } from "../../base/clock.js";
import { childEnd } from "../processes/childEnd.js";

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
const OUTPUT_BYTES = 262_144;
/** What is kept of its standard error, for the log, bytes. */
const ERROR_BYTES = 4_096;

/**
 * Runs a hook in the worker's own process group and waits for its end. One that takes too long is killed with everything that it
 * started. Never throws.
 */
export async function runHook({ command, env, input, timeoutMs, signal, clock }: HookRun): Promise<HookEnd> {
  if (signal.aborted) return { output: "", problem: "was not run: there was no time left" };
  const [program = "", ...rest] = command;
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  let child: ChildProcessByStdio<Writable, Readable, Readable>;
  try {
    child = spawn(program, rest, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: false });
  } catch (error) {
    // Some programs cannot be started at once, others only later.
    return { output: "", problem: notStarted(error) };
  }
  collect(child.stdout, output, OUTPUT_BYTES);
  collect(child.stderr, errors, ERROR_BYTES);
  // A hook need not read what it is told.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const problem = await childEnd(child, { clock, signal, timeoutMs }).then((by) => {
    if (by === "timeout") return `took longer than ${String(timeoutMs)} ms and was killed`;
    if (by !== "itself") return "was killed: there was no time left";
    const { exitCode, signalCode } = child;
    if (signalCode !== null) return `was killed by ${signalCode}${said(errors)}`;
    return exitCode === 0 ? undefined : `exited with code ${String(exitCode)}${said(errors)}`;
  }, notStarted);
  return { output: Buffer.concat(output).toString("utf8"), problem };
}

function notStarted(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return `cannot be started: ${code ?? message}`;
}

/** What it complained of, behind a colon; empty for nothing. */
function said(errors: readonly Buffer[]): string {
  const text = Buffer.concat(errors).toString("utf8").trim();
  return text === "" ? "" : `: ${text}`;
}

function collect(stream: NodeJS.ReadableStream, kept: Buffer[], bytes: number): void {
  let left = bytes;
  stream.on("data", (chunk: Buffer) => {
    if (left > 0) kept.push(chunk.subarray(0, left));
    left -= chunk.length;
  });
  stream.on("error", () => undefined);
}
