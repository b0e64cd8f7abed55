import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { noSurroundings, talariaCommand, type Variables } from "./useTalaria.js";

/** Longest wait for something to appear, milliseconds. */
const LIMIT_MS = 20_000;

/** A `talaria` that runs in a pseudo-terminal of its own. */
export interface PseudoTerminal {
  /** Everything it has shown, with line ends as line feeds. */
  readonly raw: () => string;
  /** The same without what marks text and moves the cursor. */
  readonly output: () => string;
  /** Types; a return is `\r`, an interrupt `\x03`. */
  type(text: string): void;
  /** Waits until what was shown after the last match matches. @throws Error with everything shown, after 20 s. */
  until(pattern: RegExp): Promise<void>;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts `talaria` with these arguments in a pseudo-terminal, through `script` of util-linux. */
export function inTerminal(
  args: readonly string[],
  { columns = 80, env = {} }: { readonly columns?: number; readonly env?: Variables } = {},
): PseudoTerminal {
  const quoted = [process.execPath, talariaCommand, ...args].map((arg) => `'${arg.replaceAll("'", "'\\''")}'`);
  const command = `stty rows 24 cols ${String(columns)}; exec ${quoted.join(" ")}`;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, TERM: "xterm", NO_COLOR: undefined, CI: undefined, ...noSurroundings, ...env },
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let raw = "";
  let shown = "";
  let place = 0;
  const looks = new Set<() => void>();
  const look = (): void => {
    for (const one of [...looks]) one();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
    // Anew each time: a sequence may have come in two parts.
    shown = raw.replaceAll("\r\n", "\n").replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "");
    look();
  });
  child.stdin.on("error", () => undefined);
  const ended = (once(child, "close") as Promise<[number | null]>).then(([code]) => code);
  let over = false;
  ended.then(
    () => {
      over = true;
      look();
    },
    () => undefined,
  );
  return {
    raw: () => raw,
    output: () => shown,
    type: (text) => void child.stdin.write(text),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const finish = (error?: Error): void => {
          looks.delete(check);
          cancel();
          if (error === undefined) resolve();
          else reject(error);
        };
        const check = (): void => {
          const found = pattern.exec(shown.slice(place));
          if (found !== null) {
            place += found.index + found[0].length;
            finish();
          } else if (over) finish(new Error(`it ended before ${String(pattern)} was shown:\n${shown}`));
        };
        const cancel = systemClock.after(LIMIT_MS, () => {
          finish(new Error(`${String(pattern)} was not shown:\n${shown}`));
        });
        looks.add(check);
        check();
      }),
    ended,
  };
}
