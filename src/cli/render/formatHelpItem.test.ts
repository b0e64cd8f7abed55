import { expect, test } from "vitest";

import { createProgram } from "../program.js";
import type { Terminal } from "../terminal.js";
import { processTerminal } from "../terminal.js";

/** The help of a command line, as a screen of so many columns shows it. */
function helpAt(columns: number, name: string): string {
  const terminal: Terminal = { ...processTerminal(), columns, outHasColor: false };
  const program = createProgram(terminal, () => undefined);
  return (program.commands.find((command) => command.name() === name) ?? program).helpInformation();
}

test("on a narrow screen what a term means stands below it, and no line of the lists is wider than the screen", () => {
  const help = helpAt(40, "talaria");
  expect(help).toContain("\n  run [options] <agent> <text...>\n      run a turn; piped, only the answer\n");
  const lists = help.slice(0, help.indexOf("Exit codes"));
  expect(lists.split("\n").filter((line) => line.length > 40)).toEqual([]);
});

test("on a wide one they stand side by side", () => {
  expect(helpAt(100, "talaria")).toMatch(/^ {2}status \[options\] +show the state of the gateway$/m);
});
