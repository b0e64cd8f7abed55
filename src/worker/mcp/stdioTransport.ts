import { spawn, type ChildProcess } from "node:child_process";

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import type { ProcessIdentity } from "../../base/processIdentity.js";
import { readProcess } from "../../base/processTable.js";
import { BoundedLines } from "../processes/boundedLines.js";
import { killTree } from "../processes/killTree.js";
import { MCP_BOUNDS } from "./mcpBounds.js";

/** How an MCP server on stdio is run. */
export interface StdioOptions {
  readonly command: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Reads one line. @throws where it is no message. */
  readonly parse: (line: string) => JSONRPCMessage;
  /** Takes what the server writes to standard error, within {@link MCP_BOUNDS}. */
  readonly onStderr: (text: string) => void;
}

/**
 * A server on stdio, in the worker's own process group, so that it dies with the turn whatever happens. A line that is no message is
 * reported and skipped, one that is too long ends the server.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  readonly #gone = createDeferred<void>();
  readonly #lines = new BoundedLines(MCP_BOUNDS.messageBytes);
  #child: ChildProcess | undefined;
  #root: ProcessIdentity | undefined;
  #stderrLeft: number = MCP_BOUNDS.stderrBytes;
  #how: string | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** How the server ended, such as `has exited with code 1`; undefined while it runs. */
  get how(): string | undefined {
    return this.#how;
  }

  /** Starts the server. @throws the error of the spawn. */
  async start(): Promise<void> {
    const { command, env } = this.#options;
    const [program = "", ...rest] = command;
    const child = spawn(program, rest, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: false });
    this.#child = child;
    // Read at once: only a process that is known by its birth may be signalled.
    this.#root = child.pid === undefined ? undefined : readProcess(child.pid);
    const started = createDeferred<void>();
    child.once("spawn", () => {
      started.resolve();
    });
    child.once("error", (error) => {
      started.reject(error);
    });
    child.once("exit", (code, signal) => {
      if (this.#lines.tooLong) this.#how = "sent a message larger than 8 MiB and was ended";
      else this.#how = signal === null ? `has exited with code ${String(code)}` : `was killed by ${signal}`;
    });
    child.once("close", () => {
      this.#gone.resolve();
      this.onclose?.();
    });
    // A server that reads no more is noticed by its end, or by the calls that it does not answer.
    child.stdin.on("error", () => undefined);
    child.stdout.on("data", (chunk: Buffer) => {
      this.#take(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      const text = chunk.toString("utf8", 0, Math.min(chunk.length, this.#stderrLeft));
      this.#stderrLeft -= Math.min(chunk.length, this.#stderrLeft);
      if (text !== "") this.#options.onStderr(text);
    });
    await started.promise;
  }

  /** Writes a message; resolves once there is room for more. @throws an Error where the server has ended. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin?.writable !== true) {
      // What it ended with says more than that it reads no more.
      await this.#gone.promise;
      throw new Error(`the server ${this.#how ?? "has ended"}`);
    }
    if (stdin.write(`${JSON.stringify(message)}\n`)) return;
    await Promise.race([new Promise<void>((resolve) => stdin.once("drain", resolve)), this.#gone.promise]);
  }

  /** Asks the server to go and kills it where it does not soon. Never throws. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.stdin?.end();
    const cancel = this.#options.clock.after(MCP_BOUNDS.closeMs, () => {
      this.kill();
    });
    await this.#gone.promise;
    cancel();
  }

  /** Ends the server with everything that it has started: many are behind a launcher of their own. */
  kill(): void {
    const child = this.#child;
    if (child === undefined) return;
    // Nothing that it says is still wanted, and a program that it leaves behind may hold its pipes.
    child.stdout?.destroy();
    child.stderr?.destroy();
    if (this.#root !== undefined) void killTree(this.#root, this.#options.clock);
  }

  #take(chunk: Buffer): void {
    for (const line of this.#lines.take(chunk)) this.#read(line.toString("utf8"));
    if (!this.#lines.tooLong) return;
    this.onerror?.(new Error("a message is larger than 8 MiB"));
    this.kill();
  }

  #read(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = this.#options.parse(line);
    } catch {
      this.onerror?.(new Error("a line on standard output is no message"));
      return;
    }
    this.onmessage?.(message);
  }
}
