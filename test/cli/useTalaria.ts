import { spawn, type ChildProcessByStdio, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Path of the built command. */
export const talariaCommand = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** A fresh home that goes when the test ends, with the given `talaria.yaml`. */
export function temporaryHome(config = ""): string {
  const home = mkdtempSync(join(tmpdir(), "tc-"));
  onTestFinished(() => {
    rmSync(home, { recursive: true, force: true });
  });
  if (config !== "") writeFileSync(join(home, "talaria.yaml"), config);
  return home;
}

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** What the command knows of its surroundings: nothing of this user's own homes and contexts. */
export const noSurroundings = {
  TALARIA_HOME: undefined,
  TALARIA_ADDRESS: undefined,
  TALARIA_TOKEN: undefined,
  TALARIA_CONTEXT: undefined,
  TALARIA_CONFIG_DIR: "/nonexistent",
};

/** Variables of the environment; undefined removes. */
export type Variables = Readonly<Record<string, string | undefined>>;

function start(args: readonly string[], stdin: StdioOptions = "ignore", more: Variables = {}): Child {
  const env = { ...process.env, ...noSurroundings, ...more };
  const stdio = [stdin, "pipe", "pipe"] as StdioOptions;
  const child = spawn(process.execPath, [talariaCommand, ...args], { env, stdio }) as unknown as Child;
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

async function endOf(child: Child): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout, stderr };
}

/** Runs `talaria` with these arguments to its end. */
export function talaria(...args: readonly string[]): Promise<Ended> {
  return endOf(start(args));
}

/** Makes {@link talaria} with variables of the environment. */
export function talariaWith(env: Variables): (...args: readonly string[]) => Promise<Ended> {
  return (...args) => endOf(start(args, "ignore", env));
}

/** A `talaria serve` process that serves. */
export interface Served {
  readonly home: string;
  /** What it said of itself. */
  readonly info: { readonly epoch: number; readonly pin: string; readonly addresses: Record<string, string> };
  readonly pid: number;
  /** Resolves when its log holds a text. */
  readonly logged: (text: string) => Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<Ended>;
}

/** Starts a gateway on a home and waits until it serves; it is killed with the test. */
export async function serve(home = temporaryHome()): Promise<Served> {
  const child = start(["--json", "--home", home, "serve"]);
  let log = "";
  const ended = endOf(child);
  const line = once(createInterface({ input: child.stdout }), "line") as Promise<[string]>;
  const early = ended.then(({ stderr }) => Promise.reject(new Error(`it ended before it served: ${stderr}`)));
  early.catch(() => undefined);
  const [text] = await Promise.race([line, early]);
  return {
    home,
    info: JSON.parse(text) as Served["info"],
    pid: child.pid ?? 0,
    logged: (text) =>
      new Promise((resolve) => {
        const look = (more: string): void => {
          log += more;
          if (log.includes(text)) resolve();
        };
        child.stderr.on("data", look);
      }),
    signal: (signal) => child.kill(signal),
    ended,
  };
}

/** Starts `talaria` with these arguments; for commands that are watched while they run. */
export function begin(...args: readonly string[]): { readonly child: Child; readonly ended: Promise<Ended> } {
  const child = start(args);
  return { child, ended: endOf(child) };
}
