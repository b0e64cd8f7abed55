import { spawn } from "node:child_process";
import { lowerPriority } from "./lowerPriority.js";
import type { Readable, Writable } from "node:stream";

/** A program to start. */
export interface SpawnRequest {
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute working directory. */
  readonly directory: string;
}

/** How a process ended. */
export interface ProcessExit {
  /** Exit code; null where a signal ended it. */
  readonly code: number | null;
  /** Signal that ended it; null where it exited. */
  readonly signal: NodeJS.Signals | null;
}

/** A started process that leads a group of its own. */
export interface SpawnedProcess {
  readonly pid: number;
  /** The launch pipe. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it has ended and was reaped. */
  readonly exited: Promise<ProcessExit>;
}

/** Starts processes; injected so that tests can make it fail. Rejects where the program cannot be started. */
export type Spawner = (request: SpawnRequest) => Promise<SpawnedProcess>;

/** Starts processes as leaders of sessions and groups of their own. @param nice how far they stand back behind this process, 0 to 19 */
export const systemSpawner =
  (nice: number): Spawner =>
  ({ command: [program, ...args], env, directory }) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, { cwd: directory, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
      child.once("error", reject);
      child.once("spawn", () => {
        const exited = new Promise<ProcessExit>((ended) => {
          child.once("exit", (code, signal) => {
            ended({ code, signal });
          });
        });
        if (child.pid !== undefined) lowerPriority(child.pid, nice);
        resolve({ pid: child.pid ?? 0, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited });
      });
    });
