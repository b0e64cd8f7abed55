import { spawn, type ChildProcessByStdio } from "node:child_process";
import { Readable, Writable } from "node:stream";
import type { Clock } from "../../../base/clock.js";
import { createDeferred } from "../../../base/deferred.js";
import { readProcess } from "../../../base/processTable.js";
import { scrubbedEnvironment } from "../../../base/scrubbedEnvironment.js";
import { RpcError } from "../../../rpc/rpcError.js";
import { killTree } from "../../processes/killTree.js";
import { createMessageLines, type MessageLines } from "./messageLines.js";

/** The program that an `acp` agent is. */
export interface AgentProgram {
  readonly command: readonly [string, ...string[]];
  /** Variables that it is given besides the scrubbed environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** A started agent. */
export interface AgentProcess {
  /** Its standard input. */
  readonly input: WritableStream<Uint8Array>;
  /** The messages of its standard output, whole lines; fails where it writes something else without end. */
  readonly output: ReadableStream<Uint8Array>;
  /** What is wrong with its output; undefined for nothing. */
  readonly fault: () => string | undefined;
  /** Resolves, in words, when it has ended: `ended with code 1`, for example. */
  readonly ended: Promise<string>;
  /** The last it has written to standard error, one line; empty for nothing. */
  readonly lastWords: () => string;
  /** Ends it with everything that it has started. */
  readonly kill: () => Promise<void>;
}

/** How much of its standard error is kept, characters. */
const KEPT_WORDS = 4_096;
/** Longest last line that is told, characters. */
const LAST_LINE = 400;

/**
 * Starts an agent in the turn's working directory, inside the worker's own process group: whatever ends the worker's group ends it.
 * @param behind resolves when more of its messages may be read, rejects with what is wrong where none may. @throws RpcError RUNTIME_CONFIG where it cannot be started.
 */
export async function startAgent(
  { command: [program, ...args], env }: AgentProgram,
  clock: Clock,
  behind: () => Promise<void>,
): Promise<AgentProcess> {
  const started = createDeferred<void>();
  const ended = createDeferred<string>();
  const environment = { ...scrubbedEnvironment(process.env), ...env };
  const notStarted = (cause: unknown): RpcError => {
    const message = `The agent's program cannot be started: ${program}.`;
    return new RpcError("RUNTIME_CONFIG", { message, cause });
  };
  let child: ChildProcessByStdio<Writable, Readable, Readable>;
  try {
    child = spawn(program, args, { env: environment, stdio: ["pipe", "pipe", "pipe"] });
  } catch (cause) {
    // Some programs cannot be started at once, others only later.
    throw notStarted(cause);
  }
  child.once("spawn", () => {
    started.resolve();
  });
  child.once("error", (cause) => {
    started.reject(notStarted(cause));
  });
  child.once("exit", (code, signal) => {
    ended.resolve(signal === null ? `ended with code ${String(code)}` : `was ended by ${signal}`);
  });
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words = (words + text).slice(-KEPT_WORDS);
    process.stderr.write(text);
  });
  // A program that has ended breaks its pipe; its end says so better.
  child.stdin.on("error", () => undefined);
  const lines: MessageLines = createMessageLines(behind);
  child.stdout.on("error", () => undefined).pipe(lines.stream);
  await started.promise;
  const facts = readProcess(child.pid ?? 0);
  return {
    input: Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    output: Readable.toWeb(lines.stream) as ReadableStream<Uint8Array>,
    fault: lines.fault,
    ended: ended.promise,
    lastWords: () => (words.trimEnd().split("\n").at(-1) ?? "").trim().slice(0, LAST_LINE),
    kill: async () => {
      child.stdin.destroy();
      if (facts !== undefined) await killTree(facts, clock);
      child.stdout.destroy();
      child.stderr.destroy();
    },
  };
}
