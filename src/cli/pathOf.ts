import type { Command } from "commander";

/** The names that lead to a command, the program's first, such as `talaria dm send`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
