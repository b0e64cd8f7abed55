import { fstatSync, readSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { createDeferred } from "../base/deferred.js";
import { LIMITS } from "../base/limits.js";
import { ancestorsOf, readProcess } from "../base/processTable.js";
import { EMPTY_LAUNCH_LINE, readLaunchLine, type LaunchLine } from "./launchToken.js";
import type { LifelineEvent, LifelineOrder, LifelineStart } from "./lifelineMessages.js";

const LAUNCH_PIPE = 0;
const CHUNK_BYTES = 256;

/** The main loop's view of the launch pipe, which a thread watches. */
export interface Lifeline {
  /**
   * Reads the one-time token, blocking until the launcher has written it: the connection can say nothing before. Text; empty
   * where the pipe ended, or held something else, first. Never rejects.
   */
  readToken(): Promise<string>;
  /** Starts the thread that watches the pipe; a repeat does nothing. Must come before any code of a runtime. */
  watch(): void;
  /** Aborts when the launch pipe has ended: the owner is gone. */
  readonly ownerGone: AbortSignal;
  /** Sets how long the process may live without its owner, milliseconds. */
  setGrace(ms: number): void;
  /** Says that the owner is gone although the pipe has not ended: the grace begins at once. */
  orphaned(): void;
}

/**
 * Makes the lifeline. Its thread is started by {@link Lifeline.watch}, because its start costs about as much as all the rest
 * of a worker's. When the grace is over the thread kills the launch's process group, whatever the main loop does.
 * @param script path of the built thread.
 */
export function createLifeline(script: string, graceMs: number): Lifeline {
  const token = createDeferred<string>();
  const gone = new AbortController();
  // Read at once: after the owner or a launcher has died, the ancestors are no longer to be found.
  const family = { self: readProcess(process.pid), ancestors: ancestorsOf(process.pid, LIMITS.ancestorDepth) };
  let line = EMPTY_LAUNCH_LINE;
  let grace = graceMs;
  let thread: Worker | undefined;
  const watching = (): Worker => {
    thread ??= startThread(script, { graceMs, line, ...family }, (event) => {
      if (event.kind === "ownerGone") gone.abort();
      else token.resolve(event.kind === "token" ? event.token : "");
    });
    return thread;
  };
  const order = (message: LifelineOrder): void => {
    watching().postMessage(message);
  };
  return {
    readToken() {
      if (thread === undefined && line.kind === "reading") line = readLine();
      if (line.kind === "token") token.resolve(line.token);
      else if (line.kind === "none") token.resolve("");
      else watching();
      return token.promise;
    },
    watch() {
      watching();
    },
    ownerGone: gone.signal,
    setGrace: (ms) => {
      // Waking the thread for nothing would cost the turn's first moments.
      if (ms === grace) return;
      grace = ms;
      order({ kind: "grace", ms });
    },
    orphaned: () => {
      order({ kind: "orphaned" });
    },
  };
}

function startThread(script: string, start: LifelineStart, take: (event: LifelineEvent) => void): Worker {
  // The thread writes to no stream: passing its output on would open this process's own, which takes time.
  const thread = new Worker(script, { workerData: start, stdin: false, stdout: true, stderr: true });
  // The attach call keeps the process alive; the thread must not hold up its exit.
  thread.unref();
  thread.on("message", take);
  // Without its lifeline a worker must not go on.
  thread.on("error", () => {
    take({ kind: "noToken" });
    take({ kind: "ownerGone" });
  });
  return thread;
}

/** Reads the launch pipe's first line; what cannot be read by waiting is left to the thread. */
function readLine(): LaunchLine {
  let line = EMPTY_LAUNCH_LINE;
  try {
    const kind = fstatSync(LAUNCH_PIPE);
    // A terminal is nobody's launch pipe, and reading it would block.
    if (!kind.isFIFO() && !kind.isSocket() && !kind.isFile()) return line;
    const chunk = Buffer.alloc(CHUNK_BYTES);
    while (line.kind === "reading") {
      const bytes = readSync(LAUNCH_PIPE, chunk);
      if (bytes === 0) return { kind: "none" };
      line = readLaunchLine(line, chunk.toString("latin1", 0, bytes));
    }
  } catch {
    // Closed, or set not to wait by the launcher.
  }
  return line;
}
