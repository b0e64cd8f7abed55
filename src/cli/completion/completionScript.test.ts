import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

import { createProgram } from "../program.js";
import { processTerminal } from "../terminal.js";
import { commandTree } from "./commandTree.js";
import { completionScript } from "./completionScript.js";

const tree = commandTree(createProgram(processTerminal(), () => undefined));

/** What bash offers for the last of these words. */
function offered(...words: readonly string[]): readonly string[] {
  const call = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${String(words.length - 1)}`;
  const script = `${completionScript("bash", tree)}\n${call}; _talaria; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
}

test.each([
  [["talaria", "stat"], ["status"]],
  [["talaria", "--home", "peers", "dm", "wat"], ["watch"]],
  [
    ["talaria", "tokens", "create", "x", "--role", ""],
    ["operator", "client", "reader"],
  ],
  [["talaria", "tokens", "create", "--ro"], ["--role"]],
  [["talaria", "run", "main", "--sess"], ["--session"]],
  [["talaria", "sessions", "list", "--js"], ["--json"]],
  [["talaria", "--home", ""], [""]],
])("bash completes %j", (words, expected) => {
  expect(offered(...words)).toEqual(expected);
});

test.each(["zsh", "fish"] as const)("the script for %s names every command and its options", (shell) => {
  const script = completionScript(shell, tree);
  for (const { path, options } of tree) {
    expect(script).toContain(`'${path}'`);
    for (const { flag } of options) expect(script).toContain(shell === "fish" ? `-l ${flag.slice(2)}` : flag);
  }
});
