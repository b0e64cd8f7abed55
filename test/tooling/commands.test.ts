import type { Command } from "commander";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { createProgram } from "../../src/cli/program.js";
import { processTerminal } from "../../src/cli/terminal.js";

const program = createProgram(processTerminal(), () => undefined);

const PAGES = [
  "README.md",
  "ARCHITECTURE.md",
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

/** The code of a page: what stands in fences, and in backticks within a paragraph. */
function codeOf(page: string): readonly string[] {
  const text = readFileSync(page, "utf8");
  const fences = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, "");
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
  return [...fences, ...spans];
}

/** The command lines in a piece of code, each without the program's name. */
function commandLines(code: string): readonly string[] {
  const joined = code.replaceAll(/\\\n\s*/g, " ");
  return [...joined.matchAll(/(?<=^|[\s("])talaria((?:[ \t]+[^\s|;&#()"`]+|[ \t]+"[^"]*")*)/g)].map(
    ([, line = ""]) => line,
  );
}

/** What is wrong with a command line: a command or an option that is not there. */
function wrongWith(line: string): string | undefined {
  const words = line
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  let at: Command = program;
  while (words.length > 0) {
    const word = words.shift() ?? "";
    // What follows belongs to somebody else; an assignment is no command line.
    if (word === "--" || word === "=") return undefined;
    if (word.startsWith("--")) {
      const [flag = ""] = word.split("=");
      const option = [...at.options, ...program.options].find(({ long }) => long === flag);
      if (option === undefined && flag !== "--help") return `${at.name()} has no option ${flag}`;
      if (option?.required === true && !word.includes("=")) words.shift();
    } else if (at.commands.length > 0) {
      const next = at.commands.find((child) => child.name() === word || child.aliases().includes(word));
      if (next === undefined) return `${at.name()} has no command ${word}`;
      at = next;
    }
  }
  return undefined;
}

test.each(PAGES)("%s names only commands and options that there are", (page) => {
  const wrong = codeOf(page)
    .flatMap(commandLines)
    .flatMap((line) => {
      const problem = wrongWith(line);
      return problem === undefined ? [] : [`talaria${line}: ${problem}`];
    });
  expect(wrong).toEqual([]);
});

test.each([
  ["`talaria sessions forget`", " sessions forget"],
  ["`talaria --home x srve`", " --home x srve"],
  ["```sh\ntalaria run main hello --sesion 1\n```", " run main hello --sesion 1"],
])("a wrong line is found in %s", (_code, line) => {
  expect(wrongWith(line)).toBeDefined();
});

test("lines are found in fences and behind variables", () => {
  expect(commandLines('TALARIA_HOME=x talaria init && talaria dm send "a b" c # why')).toEqual([
    " init",
    ' dm send "a b" c',
  ]);
});
