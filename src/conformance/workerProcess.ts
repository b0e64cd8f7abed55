import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { LIMITS } from "../base/limits.js";
import { processorMsOf } from "../base/processorTime.js";
import { groupMembers, readProcess } from "../base/processTable.js";
import type { Clock } from "../base/clock.js";
import type { Random } from "../base/random.js";
import { signalGroup } from "../base/signalProcess.js";
import type { SignalBoard } from "./signalBoard.js";

/** How a process ended. */
export interface WorkerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A worker as a gateway's owner launches it: in a group of its own, with a launch pipe for standard input. */
export interface LaunchRequest {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  /** False closes the launch pipe before the token. */
  readonly pipe?: boolean;
}

/** Most of what a worker prints that is kept, characters. */
const KEPT_OUTPUT = 1_048_576;

/** What left a process before its end has arrived after so many milliseconds. */
const LAST_BYTES_MS = 300;

/** What a process is watched with. */
export interface ProcessParts {
  readonly random: Random;
  readonly clock: Clock;
  readonly board: SignalBoard;
}

/** A launched worker. */
export class WorkerProcess {
  /** The one-time token that was written to its launch pipe. */
  readonly token: Buffer;
  /** What it has written to standard output, and to standard error. */
  output = "";
  log = "";
  /** How it ended; undefined while it runs. */
  exit: WorkerExit | undefined;
  /** Whether it has ended, and what it had sent has arrived. */
  gone = false;
  /** Why it could not be started; undefined where it was. */
  problem: Error | undefined;
  readonly #child: ChildProcess;
  readonly #birth: bigint;

  constructor(request: LaunchRequest, { random, clock, board }: ProcessParts) {
    const [program, ...args] = request.command;
    this.token = random.bytes(LIMITS.secretBytes);
    const { env, directory } = request;
    this.#child = spawn(program, args, { cwd: directory, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    const { stdin, stdout, stderr } = this.#child;
    this.#birth = this.#child.pid === undefined ? 0n : (readProcess(this.#child.pid)?.birthTicks ?? 0n);
    stdin?.on("error", () => undefined);
    stdout?.setEncoding("utf8").on("data", (text: string) => (this.output = (this.output + text).slice(-KEPT_OUTPUT)));
    stderr?.setEncoding("utf8").on("data", (text: string) => (this.log = (this.log + text).slice(-KEPT_OUTPUT)));
    const over = (): void => {
      board.changed();
      clock.after(LAST_BYTES_MS, () => {
        this.gone = true;
        board.changed();
      });
    };
    this.#child.once("error", (error) => {
      this.problem = error;
      over();
    });
    this.#child.once("exit", (code, signal) => {
      this.exit = { code, signal };
      over();
    });
    if (request.pipe === false) stdin?.destroy();
    else stdin?.write(`${this.tokenText}\n`);
  }

  /** The token as it was written. */
  get tokenText(): string {
    return this.token.toString("base64url");
  }

  /** Its process id, which is its group's; 0 where it was not started. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Processor time that its living processes have used, milliseconds. */
  get processorMs(): number {
    return this.pid === 0 ? 0 : processorMsOf(groupMembers(this.pid));
  }

  /** Living processes of its group. */
  get group(): readonly number[] {
    return this.pid === 0 ? [] : groupMembers(this.pid).map(({ pid }) => pid);
  }

  /** Ends the launch pipe, as the owner's death does. */
  dropPipe(): void {
    this.#child.stdin?.destroy();
  }

  /** What of a process of it can be seen by others: arguments and environment. Empty where the system does not show it. */
  visible(pid: number): string {
    try {
      return `${readFileSync(`/proc/${String(pid)}/cmdline`, "latin1")}\n${readFileSync(`/proc/${String(pid)}/environ`, "latin1")}`;
    } catch {
      return "";
    }
  }

  /** Kills what is left of it. */
  dispose(): void {
    this.dropPipe();
    if (this.pid === 0) return;
    const leader = { pid: this.pid, birthTicks: this.#birth };
    const members = groupMembers(this.pid)
      .filter(({ session }) => session === 0 || session === this.pid)
      .map(({ pid, birthTicks }) => ({ pid, birthTicks }));
    signalGroup({ pgid: this.pid, leader, members }, "SIGKILL");
  }
}
