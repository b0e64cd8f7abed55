import type { Command } from "commander";

import { EXIT_CODES } from "./exitCodes.js";
import { globalOptionNames } from "./globalOptions.js";

/** The page `docs/cli.md`, in Markdown: every command with its options and its example, as its help has them. */
export function cliPage(program: Command): string {
  return [
    "# The command line",
    "<!-- Written from the commands themselves: npx vitest run --project unit src/cli/cliPage.test.ts -u -->",
    "`talaria` is a plain client of a gateway. Every command takes the global options, before or after its name; one that has an " +
      "option of its own under the same name means its own where that stands after the name.",
    "## Global options",
    options(program, () => true),
    "Where a command goes is decided by the first of these that is given: `--address`, `--context`, `--home`, `TALARIA_ADDRESS`, " +
      "`TALARIA_CONTEXT`, `TALARIA_HOME`, the context in use (`talaria contexts use`), the home `~/.talaria`. A token is never sent " +
      "over a network in the clear. Contexts are kept in `~/.config/talaria/contexts.json`, mode 0600, or where `TALARIA_CONFIG_DIR` says. " +
      "Commands that work on the files of a home find it the same way, and are refused where that is a gateway at an address; `serve`, `init`, " +
      "`restore` and `relay` work on this machine all the same unless the address or the context was typed with them.",
    "## Output",
    "With `--json` every answer is JSON, one value a line, and an error is one JSON value on standard error. Colours are shown in a " +
      "terminal only, and not with `NO_COLOR`. An error says its reason, what happened and what to do; `--verbose` adds the details of the status. " +
      "Tables that a terminal is too narrow for are shown as blocks. A command that is silent for long says in a terminal that it goes on.",
    "## Exit codes",
    "| code | meaning |\n| --- | --- |\n" +
      EXIT_CODES.map(({ code, meaning }) => `| ${String(code)} | ${meaning} |`).join("\n"),
    "The code of an error follows from its reason; every reason is in [errors.md](errors.md).",
    "## Commands",
    ...program.commands.flatMap((command) => sections(command, [])),
  ].join("\n\n");
}

function sections(command: Command, parents: readonly string[]): readonly string[] {
  const path = [...parents, command.name()];
  if (command.commands.length > 0) return command.commands.flatMap((child) => sections(child, path));
  const args = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  const globals = globalOptionNames(command);
  const own = options(command, (name) => !globals.has(name));
  const description = command.description();
  return [
    `### talaria ${[...path, ...args].join(" ").replaceAll("<", "\\<")}`,
    `${description.charAt(0).toUpperCase()}${description.slice(1)}.`,
    ...(own === "" ? [] : [own]),
    `\`\`\`sh\n${exampleOf(command)}\n\`\`\``,
  ];
}

function options(command: Command, wanted: (name: string) => boolean): string {
  return command.options
    .filter((option) => wanted(option.attributeName()) && option.long !== "--version")
    .map(({ flags, description, argChoices }) => {
      const choices = argChoices === undefined ? "" : `; one of ${argChoices.join(", ")}`;
      return `- \`${flags}\`: ${description.replaceAll("<", "\\<")}${choices}`;
    })
    .join("\n");
}

/** The example of a command's help. @throws Error where it has none. */
export function exampleOf(command: Command): string {
  let text = "";
  const shown = command.configureOutput();
  command.configureOutput({ ...shown, writeOut: (more) => (text += more) });
  command.outputHelp();
  command.configureOutput(shown);
  const [, example] = /\nExample:\n {2}\$ (.+)\n/.exec(text) ?? [];
  if (example === undefined) throw new Error(`talaria ${command.name()} has no example`);
  return example;
}
