import { CommanderError } from "commander";

import { EXIT_USAGE } from "./exitCode.js";
import { createProgram } from "./program.js";
import { reportError } from "./reportError.js";
import type { Terminal } from "./terminal.js";
import { processTerminal } from "./terminal.js";

/** Runs one command line (without the program's own name) and returns its exit code; never throws. */
export async function runCli(args: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const state = { exitCode: 0 };
  const program = createProgram(terminal, (code) => {
    state.exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return state.exitCode;
  } catch (caught) {
    if (caught instanceof CommanderError) return caught.exitCode === 0 ? 0 : EXIT_USAGE;
    const { verbose = false, json = false } = program.opts<{ verbose?: boolean; json?: boolean }>();
    return reportError(caught, terminal, { verbose, json });
  }
}
