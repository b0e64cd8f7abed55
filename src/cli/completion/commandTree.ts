import type { Command } from "commander";

/** One command as completion sees it. */
export interface CommandNode {
  /** Its words after the program's name, joined by spaces; empty for the program itself. */
  readonly path: string;
  /** Names of the commands below it, with what they do. */
  readonly children: readonly { readonly name: string; readonly description: string }[];
  /** Its options. */
  readonly options: readonly {
    readonly flag: string;
    readonly description: string;
    /** Whether a value follows. */
    readonly takesValue: boolean;
    /** The values it takes, where those are known. */
    readonly choices: readonly string[];
  }[];
}

/** Every command of a program, the program first. */
export function commandTree(command: Command, path: readonly string[] = []): readonly CommandNode[] {
  const { commands, options } = command;
  const node: CommandNode = {
    path: path.join(" "),
    children: commands.map((child) => ({ name: child.name(), description: child.description() })),
    options: [
      ...options.map((option) => ({
        flag: option.long ?? option.flags,
        description: option.description,
        takesValue: option.required || option.optional,
        choices: option.argChoices ?? [],
      })),
      { flag: "--help", description: "display help for command", takesValue: false, choices: [] },
    ],
  };
  return [node, ...commands.flatMap((child) => commandTree(child, [...path, child.name()]))];
}
