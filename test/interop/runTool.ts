import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

/** Longest that one command may take, milliseconds; a command that takes longer has hung. */
const LIMIT_MS = 25_000;

/** How a command ended. */
export interface Ended {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface Running {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** What it has written to standard output so far. */
  readonly stdout: () => string;
  /** Resolves when it has ended. @throws Error when it cannot be started, or with its output when it takes too long */
  readonly ended: Promise<Ended>;
}

/** Surroundings of a command. */
export interface Surroundings {
  readonly cwd?: string;
  /** Added to the environment; undefined removes. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Longest that it may take, milliseconds; default 25 s. */
  readonly limitMs?: number;
}

/** Starts a command whose output is watched while it runs. */
export function beginTool(
  command: string,
  args: readonly string[],
  { cwd, env, limitMs = LIMIT_MS }: Surroundings = {},
): Running {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
    timeout: limitMs,
    killSignal: "SIGKILL",
    env: { ...process.env, TALARIA_HOME: undefined, TALARIA_ADDRESS: undefined, TALARIA_TOKEN: undefined, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = (async (): Promise<Ended> => {
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    if (signal === "SIGKILL") throw new Error(`${command} ${args.join(" ")} did not end:\n${stdout}\n${stderr}`);
    return { code, stdout, stderr };
  })();
  // A test that fails before it awaits the end must not leave an unhandled rejection beside its own failure.
  ended.catch(() => undefined);
  return { child, stdout: () => stdout, ended };
}

/** Runs a command to its end. @throws Error when it cannot be started or takes too long */
export function runTool(command: string, args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  return beginTool(command, args, surroundings).ended;
}
