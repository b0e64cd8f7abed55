import { createInterface } from "node:readline";
import { styleText } from "node:util";

/** How text can be marked; as `util.styleText` names it. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Where a command reads and writes. */
export interface Terminal {
  /** Writes to standard output, as it is. */
  out(text: string): void;
  /** Writes a line to standard error. */
  err(line: string): void;
  /** Whether a person reads the output. */
  readonly outIsTerminal: boolean;
  /** Whether a person reads what goes to standard error. */
  readonly errIsTerminal: boolean;
  /** Whether standard output shows colours: a terminal that has them, unless `NO_COLOR` is set. */
  readonly outHasColor: boolean;
  /** Width of a terminal that a person reads, in columns; undefined where the output is piped. */
  readonly columns: number | undefined;
  /** Whether a person can be asked. */
  readonly canAsk: boolean;
  /** Marks text for one of the two outputs; as it is where that shows no colours. */
  paint(output: "out" | "err", styles: readonly Style[], text: string): string;
  /** Asks and returns the line; undefined where the input has ended or the signal aborts. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Takes the failures of writing to standard output, instead of whoever took them before; `EPIPE` where its reader has gone. */
  onOutError(take: (error: NodeJS.ErrnoException) => void): void;
  readonly env: NodeJS.ProcessEnv;
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process;
  let takeOutError = (_error: NodeJS.ErrnoException): void => undefined;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    takeOutError(error);
  });
  // Whoever could be told of it reads there.
  stderr.on("error", () => undefined);
  const outIsTerminal = stdout.isTTY;
  const colorsWanted = (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const hasColor = { out: colorsWanted && outIsTerminal, err: colorsWanted && stderr.isTTY };
  return {
    out: (text) => void stdout.write(text),
    err: (line) => void stderr.write(`${line}\n`),
    outIsTerminal,
    errIsTerminal: stderr.isTTY,
    outHasColor: hasColor.out,
    get columns() {
      return outIsTerminal ? stdout.columns : undefined;
    },
    canAsk: outIsTerminal && stdin.isTTY,
    paint: (output, styles, text) => (hasColor[output] ? styleText([...styles], text) : text),
    ask: (question, signal) =>
      new Promise((resolve) => {
        const lines = createInterface({ input: stdin, output: stdout });
        const finish = (answer: string | undefined): void => {
          signal.removeEventListener("abort", onAbort);
          // First, because closing counts as the end of the input.
          resolve(answer);
          lines.close();
        };
        const onAbort = (): void => {
          finish(undefined);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        lines.once("close", onAbort);
        // While a line is read the terminal hands over the interrupt as a key.
        lines.on("SIGINT", () => {
          if (!process.emit("SIGINT")) finish(undefined);
        });
        lines.question(question, finish);
      }),
    onOutError(take) {
      takeOutError = take;
    },
    env,
  };
}
