import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

import { StreamLog } from "./streamLog.js";

/** A program in a real pseudo-terminal, made by `script` of util-linux. */
export class PseudoTerminal {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #log = new StreamLog<string>();
  #text = "";

  /** @param command a shell command line. */
  constructor(command: string, { columns = 100, rows = 30, env = {} }: PseudoTerminalOptions = {}) {
    const line = `stty cols ${String(columns)} rows ${String(rows)}; exec ${command}`;
    this.#child = spawn("script", ["--quiet", "--flush", "--return", "--command", line, "/dev/null"], {
      env: { ...process.env, CI: undefined, TERM: "xterm-256color", ...env },
    });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#text += text;
      this.#log.add(text);
    });
    this.#child.once("exit", () => {
      this.#log.end();
    });
    onTestFinished(() => {
      this.#child.kill("SIGKILL");
    });
  }

  /** What is written from here on is looked at; what came before is not. */
  forget(): void {
    this.#text = "";
  }

  /** Everything since {@link forget}, without what steers the terminal. */
  get text(): string {
    return this.#text.replaceAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007|[@-Z\\-_])/g, "");
  }

  /** Waits until the text since {@link forget} matches. */
  shows(pattern: RegExp): Promise<boolean> {
    return this.#log.until(`the terminal to show ${String(pattern)}`, () =>
      pattern.test(this.text) ? true : undefined,
    );
  }

  /** Types keys. */
  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Waits for the end of the program. @returns its exit code. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const [code] = (await once(this.#child, "exit")) as [number | null];
    return code;
  }
}

/** What {@link PseudoTerminal} starts with. */
export interface PseudoTerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: NodeJS.ProcessEnv;
}
