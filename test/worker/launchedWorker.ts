import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { systemRandom } from "../../src/base/random.js";
import { groupMembers } from "../../src/base/processTable.js";
import { WAIT_MS } from "./frameLog.js";

/** The built worker. */
export const WORKER_MAIN = fileURLToPath(new URL("../../dist/worker/main.cjs", import.meta.url));

/** How a test starts a worker. */
export interface LaunchSettings {
  /** Program and arguments; default: Node with the built worker. */
  readonly command?: readonly [string, ...string[]];
  /** What is written to its stdin; default: a token and a line feed. */
  readonly firstLine?: string;
}

/** A worker process that a test has started, in a group of its own. */
export class LaunchedWorker {
  /** The token that was written to its stdin. */
  readonly token = systemRandom.bytes(32);
  readonly child: ChildProcess;
  /** What it has written to standard error. */
  log = "";
  /** What it has written to standard output. */
  output = "";
  readonly #exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  constructor(socketPath: string, settings: LaunchSettings = {}) {
    const [program, ...args] = settings.command ?? [process.execPath, WORKER_MAIN];
    this.child = spawn(program, args, {
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], TALARIA_OWNER_SOCKET: socketPath },
    });
    this.child.stdin?.on("error", () => undefined);
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.log += text));
    this.child.stdin?.write(settings.firstLine ?? `${this.token.toString("base64url")}\n`);
    this.#exited = once(this.child, "close").then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
  }

  /** Waits for the end of the process. */
  async exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`the worker still runs; its log: ${this.log}`));
      }, WAIT_MS);
    });
    try {
      return await Promise.race([this.#exited, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the launch pipe, as the owner's death does. */
  dropPipe(): void {
    this.child.stdin?.destroy();
  }

  /** Waits until no process of the group is left. */
  async groupGone(): Promise<void> {
    const deadline = Date.now() + WAIT_MS;
    while (groupMembers(this.child.pid ?? 0).length > 0) {
      if (Date.now() > deadline) throw new Error("processes of the group are left");
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Ends what is left of the group. */
  dispose(): void {
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, "SIGKILL");
    } catch {
      // Nothing is left.
    }
  }
}
