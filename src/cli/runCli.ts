import { CommanderError } from "commander";

import { CliError } from "./cliError.js";
import type { KeepCode } from "./commandContext.js";
import { EXIT_USAGE } from "./exitCodes.js";
import { createProgram } from "./program.js";
import { printError, reportError } from "./reportError.js";
import type { Terminal } from "./terminal.js";
import { processTerminal } from "./terminal.js";
import { helpProblem, usageProblem } from "./usageProblem.js";

/** What {@link runCli} may be told. */
export interface RunCliOptions {
  /** Default: that of this process. */
  readonly terminal?: Terminal;
  /** Keeps what has been compiled for later starts; called when the code of that use has run. */
  readonly keepCode?: KeepCode;
}

/** Runs one command line (without the program's own name) and returns its exit code; never throws. */
export async function runCli(
  args: readonly string[],
  { terminal = processTerminal(), keepCode = () => undefined }: RunCliOptions = {},
): Promise<number> {
  const state = { exitCode: 0 };
  const exit = (code: number): void => {
    state.exitCode = code;
  };
  const program = createProgram(terminal, exit, keepCode);
  // Looked for in the text, because a wrong command line has no options.
  const asked = (flag: string): boolean => args.slice(0, [...args, "--"].indexOf("--")).includes(flag);
  const style = { verbose: asked("--verbose"), json: asked("--json") };
  terminal.onOutError(({ code = "unknown error" }) => {
    // A reader that stops early, such as head, is no failure.
    if (code === "EPIPE") process.exit(0);
    const hint = "Make room where the output goes. What the command was to change may have been changed.";
    const error = new CliError("STORAGE_UNAVAILABLE", `The output cannot be written: ${code}.`, hint);
    process.exit(reportError(error, terminal, style));
  });
  const unknown = helpProblem(program, args);
  if (unknown !== undefined) {
    printError(terminal, { reason: "USAGE", ...unknown }, style);
    return EXIT_USAGE;
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return state.exitCode;
  } catch (caught) {
    if (!(caught instanceof CommanderError)) return reportError(caught, terminal, style);
    if (caught.exitCode === 0) return 0;
    if (caught.code !== "commander.help") {
      printError(terminal, { reason: "USAGE", ...usageProblem(program, args, caught) }, style);
    }
    return EXIT_USAGE;
  }
}
