import { Command } from "commander";

import { VERSION } from "../base/version.js";
import type { KeepCode } from "./commandContext.js";
import { createCommandKit } from "./commandKit.js";
import { EXIT_CODES_HELP } from "./exitCodes.js";
import { addGlobalOptions } from "./globalOptions.js";
import { formatHelpItem } from "./render/formatHelpItem.js";
import { registrations } from "./registrations.js";
import type { Terminal } from "./terminal.js";

/**
 * The command line. Each command's code is loaded when it runs. What is wrong with a command line is thrown and not printed.
 * @param exit takes the exit code of a command that ends otherwise than by an error
 * @param keepCode keeps what has been compiled for later starts; default: nothing is kept
 */
export function createProgram(
  terminal: Terminal,
  exit: (code: number) => void,
  keepCode: KeepCode = () => undefined,
): Command {
  const program = new Command("talaria")
    .description("Runs agents in their own processes and carries direct messages between them.")
    .version(VERSION)
    // A command may have an option of its own under a global option's name; it is meant where it stands after the command.
    .enablePositionalOptions()
    .addHelpText("after", EXIT_CODES_HELP)
    .exitOverride()
    .configureHelp({ minWidthToWrap: 10, formatItem: formatHelpItem })
    .configureOutput({
      writeOut: (text) => {
        terminal.out(text);
      },
      writeErr: (text) => {
        terminal.err(text.replace(/\n$/, ""));
      },
      outputError: () => undefined,
      getOutHelpWidth: () => terminal.columns ?? 80,
      getOutHasColors: () => terminal.outHasColor,
    });
  addGlobalOptions(program);
  const kit = createCommandKit(terminal, exit, keepCode);
  for (const register of registrations) register(program, kit);
  for (const group of program.commands)
    if (group.commands.length > 0) addGlobalOptions(group.enablePositionalOptions());
  return program;
}
