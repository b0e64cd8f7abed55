import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { systemClock } from "../../src/base/clock.js";
import { homePaths } from "../../src/base/home.js";
import { openReadOnly } from "../../src/store/database.js";
import { Reader } from "../../src/store/reader.js";
import type { SqlValue } from "../../src/store/sql.js";
import { StreamLog } from "./streamLog.js";
import { TurnClient } from "./turnClient.js";

const COMMAND = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** A `talaria serve` process of its own, to be killed. */
export class ServeProcess {
  readonly home: string;
  /** The lines of its log. */
  readonly log = new StreamLog<string>();
  readonly #child: ChildProcess;
  readonly #ready = new StreamLog<string>();
  readonly #clients: TurnClient[] = [];

  constructor(home: string) {
    this.home = home;
    const env = { ...process.env, TALARIA_HOME: undefined };
    this.#child = spawn(process.execPath, [COMMAND, "--json", "--home", home, "serve"], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const lines = (log: StreamLog<string>) => (text: string) => {
      for (const line of text.split("\n")) if (line !== "") log.add(line);
    };
    this.#child.stdout?.setEncoding("utf8").on("data", lines(this.#ready));
    this.#child.stderr?.setEncoding("utf8").on("data", lines(this.log));
    this.#child.once("exit", () => {
      this.#ready.end(new Error(this.log.items.slice(-5).join("\n")));
      this.log.end();
    });
  }

  /** Waits until it serves. */
  async serving(waitMs?: number): Promise<this> {
    await this.#ready.until("serving gateway", () => this.#ready.items[0], waitMs);
    return this;
  }

  /** `host:port` of its peer listener. @throws Error before it serves, or where it has none. */
  get peerAddress(): string {
    const { addresses = {} } = JSON.parse(this.#ready.items[0] ?? "{}") as { addresses?: Record<string, string> };
    const address = addresses["peers"];
    if (address === undefined) throw new Error(`no peer listener: ${this.#ready.items.join("\n")}`);
    return address;
  }

  /** Its process id. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** A client, closed with the process. */
  connect(): TurnClient {
    const client = new TurnClient(`unix:${homePaths(this.home).gatewaySocket}`);
    this.#clients.push(client);
    return client;
  }

  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Kills it and waits for its end. */
  async kill(): Promise<void> {
    for (const client of this.#clients.splice(0)) client.close();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  /** Asks it to end, and waits. @returns its exit code. */
  async stop(): Promise<number | null> {
    for (const client of this.#clients.splice(0)) client.close();
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const cancel = systemClock.after(15_000, () => this.#child.kill("SIGKILL"));
    const [code] = (await ended) as [number | null];
    cancel();
    return code;
  }
}

/** Reads the store of a home, whether or not somebody serves it. */
export function rowsOf<Row extends object>(home: string, sql: string, ...values: readonly SqlValue[]): Row[] {
  const reader = new Reader(openReadOnly(homePaths(home).database));
  try {
    return reader.all<Row>(sql, ...values);
  } finally {
    reader.close();
  }
}

/** Where an execution's worker keeps its result. */
export function outboxFile(home: string, executionId: string): string {
  return join(homePaths(home).outboxesDir, executionId, "result");
}
