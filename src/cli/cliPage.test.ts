import type { Command } from "commander";
import { format } from "prettier";
import { expect, test } from "vitest";

import { cliPage, exampleOf } from "./cliPage.js";
import { globalOptionNames } from "./globalOptions.js";
import { createProgram } from "./program.js";
import { processTerminal } from "./terminal.js";

const program = createProgram(processTerminal(), () => undefined);
const leaves = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);

test("docs/cli.md is what the commands say", async () => {
  const page = await format(cliPage(program), { parser: "markdown", printWidth: 120 });
  await expect(page).toMatchFileSnapshot("../../docs/cli.md");
});

test.each(leaves(program).map((command) => [command.name(), command] as const))(
  "%s has an example of itself, a description and the global options",
  (name, command) => {
    const path: string[] = [];
    for (let at: Command | null = command; at !== null; at = at.parent) path.unshift(at.name());
    expect(exampleOf(command).replace(/ \$.*/, "")).toContain(path.join(" "));
    expect(command.description(), name).not.toBe("");
    expect([...globalOptionNames(command)]).toContain("json");
  },
);
