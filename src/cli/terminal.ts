import { createInterface } from "node:readline";

/** Where a command reads and writes. */
export interface Terminal {
  /** Writes to standard output, as it is. */
  out(text: string): void;
  /** Writes a line to standard error. */
  err(line: string): void;
  /** Whether a person reads the output. */
  readonly outIsTerminal: boolean;
  /** Whether a person can be asked. */
  readonly canAsk: boolean;
  /** Asks and returns the line; undefined where the input has ended or the signal aborts. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  readonly env: NodeJS.ProcessEnv;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  // A reader that stops early, such as head, is no failure.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
  });
  const outIsTerminal = stdout.isTTY;
  return {
    out: (text) => void stdout.write(text),
    err: (line) => void stderr.write(`${line}\n`),
    outIsTerminal,
    canAsk: outIsTerminal && stdin.isTTY,
    ask: (question, signal) =>
      new Promise((resolve) => {
        const lines = createInterface({ input: stdin, output: stdout });
        const finish = (answer: string | undefined): void => {
          signal.removeEventListener("abort", onAbort);
          lines.close();
          resolve(answer);
        };
        const onAbort = (): void => {
          finish(undefined);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        lines.once("close", onAbort);
        lines.question(question, finish);
      }),
    env: process.env,
  };
}
