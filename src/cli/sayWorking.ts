import type { Clock } from "../base/clock.js";
import type { Terminal } from "./terminal.js";

/** Silence after which a person is told that the command goes on, then told again, milliseconds since its start. */
export const WORKING_AT_MS: readonly number[] = [2_000, 10_000, 30_000];
/** From then on the time between two such lines, milliseconds. */
export const WORKING_EVERY_MS = 60_000;

/** A terminal that is watched over, and what ends the watch. */
export interface WatchedTerminal {
  /** The terminal that the command shall write to. */
  readonly terminal: Terminal;
  /** Ends the watch. */
  stop(): void;
}

/**
 * Tells the person at a terminal that a command goes on, as long as it has written nothing; nobody is told where errors go elsewhere.
 * @param name the command, such as `talaria backup`
 */
export function sayWorking(terminal: Terminal, name: string, clock: Clock): WatchedTerminal {
  if (!terminal.errIsTerminal) return { terminal, stop: () => undefined };
  let cancel: () => void = () => undefined;
  const stop = (): void => {
    cancel();
  };
  const watch = (round: number, lastMs: number): void => {
    const atMs = WORKING_AT_MS[round] ?? lastMs + WORKING_EVERY_MS;
    cancel = clock.after(atMs - lastMs, () => {
      terminal.err(terminal.paint("err", ["dim"], `${name}: working, ${String(Math.round(atMs / 1_000))} s`));
      watch(round + 1, atMs);
    });
  };
  watch(0, 0);
  const writes: Pick<Terminal, "out" | "err" | "ask"> = {
    out: (text) => {
      stop();
      terminal.out(text);
    },
    err: (line) => {
      stop();
      terminal.err(line);
    },
    ask: (question, signal) => {
      stop();
      return terminal.ask(question, signal);
    },
  };
  // Over the terminal itself, whose width may change.
  return { terminal: Object.assign(Object.create(terminal) as Terminal, writes), stop };
}
