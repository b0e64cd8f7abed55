import type { Command } from "commander";

import { systemClock } from "../base/clock.js";
import type { CommandContext, KeepCode } from "./commandContext.js";
import { createCommandContext } from "./commandContext.js";
import { addGlobalOptions, globalOptionsOf, ownOptionsOf } from "./globalOptions.js";
import { pathOf } from "./pathOf.js";
import { sayWorking } from "./sayWorking.js";
import type { Terminal } from "./terminal.js";

/** What a command does. A number that it returns is its exit code. */
export type CommandAction = (context: CommandContext, ...args: never[]) => Promise<unknown>;

/** How the commands are made: each registration gives its commands an action and an example. */
export interface CommandKit {
  /** Gives a command its action, and the options that every command has. The action gets the command's own options alone. */
  readonly run: (command: Command, action: CommandAction) => Command;
  /** Adds an example to a command's help, without the program's name. */
  readonly example: (command: Command, line: string) => Command;
}

/** Commands that show what they do while they do it. */
const SHOWS_ITSELF: ReadonlySet<string> = new Set(["talaria run", "talaria top"]);

/** Adds one family of commands to the program. */
export type Register = (program: Command, kit: CommandKit) => void;

/**
 * Makes the kit of one program.
 * @param exit takes the exit code of a command that ends otherwise than by an error
 */
export function createCommandKit(terminal: Terminal, exit: (code: number) => void, keepCode: KeepCode): CommandKit {
  return {
    run: (command, action) =>
      addGlobalOptions(command).action(async (...given: unknown[]) => {
        // Commander calls with the arguments, the options and the command.
        const args = given.slice(0, -2);
        const path = pathOf(command);
        const watched = SHOWS_ITSELF.has(path) ? undefined : sayWorking(terminal, path, systemClock);
        const context = createCommandContext(globalOptionsOf(command), watched?.terminal ?? terminal, keepCode);
        try {
          const code = await action(context, ...([...args, ownOptionsOf(command), command] as never[]));
          if (typeof code === "number") exit(code);
        } catch (caught) {
          throw context.explain(caught);
        } finally {
          watched?.stop();
          context.close();
        }
      }),
    example: (command, line) => command.addHelpText("after", `\nExample:\n  $ talaria ${line}`),
  };
}
