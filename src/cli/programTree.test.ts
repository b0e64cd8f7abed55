import type { Command } from "commander";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { EXIT_CODES } from "./exitCodes.js";
import { globalOptionNames } from "./globalOptions.js";
import { pathOf } from "./pathOf.js";
import { createProgram } from "./program.js";
import { runCli } from "./runCli.js";
import { processTerminal, type Terminal } from "./terminal.js";

// What holds for every command of the program, whichever are added.

const program = createProgram(processTerminal(), () => undefined);
const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
const groups = [program, ...program.commands.filter(({ commands }) => commands.length > 0)];
/** Each command with the words that lead to it. */
const leaves = leavesOf(program).map((command) => [pathOf(command).replace("talaria ", ""), command] as const);

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line, piped, in an environment without homes and contexts of this user's. */
async function run(...args: readonly string[]): Promise<Ended> {
  const said = { out: "", err: "" };
  const terminal: Terminal = {
    ...processTerminal(),
    out: (text) => void (said.out += text),
    err: (line) => void (said.err += `${line}\n`),
    outIsTerminal: false,
    errIsTerminal: false,
    outHasColor: false,
    columns: undefined,
    canAsk: false,
    paint: (_output, _styles, text) => text,
    ask: () => Promise.reject(new Error("nobody can be asked")),
    onOutError: () => undefined,
    env: { PATH: process.env["PATH"], TALARIA_CONFIG_DIR: "/nonexistent", TALARIA_HOME: "/nonexistent" },
  };
  const code = await runCli(args, { terminal });
  return { code, ...said };
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tt-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A word that a mistyped name might be: its last two letters changed places, or one more at the end. */
function mistyped(name: string): string {
  const [last = "", beforeLast = ""] = [name.at(-1), name.at(-2)];
  return last === beforeLast ? `${name}x` : `${name.slice(0, -2)}${last}${beforeLast}`;
}

test.each(leaves)("%s: help has the usage, an example and --json, and no colour where it is piped", async (path) => {
  const { code, out, err } = await run(...path.split(" "), "--help");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(new RegExp(`^Usage: talaria ${path}\\b`));
  expect(out).toContain(`Example:\n  $ talaria ${path}`);
  expect(out).toContain("--json");
  expect(out).not.toContain("\u001b");
});

test.each(leaves)("%s: an unknown option ends with the usage code and names the nearest", async (path, command) => {
  for (const { long } of command.options) {
    const wrong = mistyped(long ?? "--json");
    const { code, out, err } = await run(...path.split(" "), ...wordsFor(command), wrong);
    expect({ code, out }, wrong).toEqual({ code: 64, out: "" });
    expect(err).toMatch(/^USAGE: /);
    expect(err).toContain(wrong);
    expect(err).toContain(`Did you mean ${long ?? ""}?`);
    expect(err).toContain(`See: talaria ${path} --help`);
  }
});

test.each(leaves)(
  "%s: a missing argument ends with the usage code, as JSON where that is asked for",
  async (path, command) => {
    const { code, out, err } = await run("--json", ...path.split(" "), "--nothing-like-this");
    expect({ code, out }).toEqual({ code: 64, out: "" });
    expect(JSON.parse(err)).toEqual({
      error: {
        reason: "USAGE",
        message: expect.any(String) as string,
        hint: expect.stringContaining(`talaria ${path} --help`) as string,
      },
    });
    expect([...globalOptionNames(command)]).toContain("json");
  },
);

test.each(groups.flatMap((group) => group.commands.map((command) => [pathOf(command), group, command] as const)))(
  "%s: a mistyped name ends with the usage code and names it",
  async (_path, group, command) => {
    const wrong = mistyped(command.name());
    const before = pathOf(group).split(" ").slice(1);
    const { code, out, err } = await run(...before, wrong);
    expect({ code, out }, wrong).toEqual({ code: 64, out: "" });
    const names = [command.name(), ...command.aliases()].join("|");
    expect(err).toMatch(new RegExp(`Did you mean (one of )?(${names})\\b`));
  },
);

/** Words that stand for the arguments and options that a command wants. */
function wordsFor(command: Command): readonly string[] {
  const options = command.options.filter(({ mandatory }) => mandatory).flatMap(({ long }) => [long ?? "", "x"]);
  return [...options, ...command.registeredArguments.filter(({ required }) => required).map(() => "x")];
}

/** What a command ends with that asks no gateway, or not first, in an empty home; the others say that none runs. */
const WITHOUT_GATEWAY: Readonly<
  Record<string, { readonly code: number; readonly args?: readonly string[] } | "apart">
> = {
  // Makes a home, or serves one: tested as processes.
  init: "apart",
  serve: "apart",
  restore: "apart",
  backup: "apart",
  "config check": { code: 0 },
  "config show": { code: 0 },
  doctor: { code: 0, args: ["--offline"] },
  "agents new": "apart",
  "agents check": "apart",
  "prompts answer": { code: 69, args: ["pro_x", "1"] },
  top: { code: 76 },
  "relay connect": { code: 64, args: ["--hub", "x", "--pin", "x"] },
  "relay pair": "apart",
  pin: "apart",
  "tokens create": "apart",
  "tokens list": { code: 0 },
  "tokens revoke": { code: 66 },
  "contexts add": "apart",
  "contexts use": { code: 66 },
  "contexts list": { code: 0 },
  "contexts remove": { code: 66 },
  "conformance worker": "apart",
  completion: { code: 0, args: ["bash"] },
};

test("the table of commands that ask no gateway names only commands that there are", () => {
  const names = leaves.map(([path]) => path);
  expect(Object.keys(WITHOUT_GATEWAY).filter((path) => !names.includes(path))).toEqual([]);
});

test.each(leaves.filter(([path]) => WITHOUT_GATEWAY[path] !== "apart"))(
  "%s: with --json, in an empty home, it writes JSON or a script alone, makes nothing, and ends with a code that is documented",
  async (path, command) => {
    const home = emptyFolder();
    const expected = WITHOUT_GATEWAY[path] ?? { code: 69 };
    if (expected === "apart") throw new Error("left out");
    const args = expected.args ?? wordsFor(command);
    const { code, out, err } = await run("--json", "--home", home, ...path.split(" "), ...args);
    expect(code, err).toBe(expected.code);
    expect(EXIT_CODES.map((entry) => entry.code)).toContain(code);
    if (path !== "completion")
      for (const line of lines(out)) expect(() => JSON.parse(line) as unknown, line).not.toThrow();
    if (code !== 0 && out === "") {
      const { error } = JSON.parse(err) as { error: Record<string, string> };
      expect(error).toMatchObject({
        reason: expect.stringMatching(/^[A-Z_]+$/) as string,
        message: expect.any(String) as string,
      });
      expect(error["hint"], "it says what to do").not.toBe("");
    }
    expect(readdirSync(home)).toEqual([]);
  },
);

test.each(leaves.filter(([path]) => WITHOUT_GATEWAY[path] === undefined))(
  "%s: where no gateway runs it says how to start one",
  async (path, command) => {
    const home = emptyFolder();
    const { code, out, err } = await run("--home", home, ...path.split(" "), ...wordsFor(command));
    expect({ code, out }).toEqual({ code: 69, out: "" });
    expect(err).toBe(`UNAVAILABLE: No gateway runs on ${home}.\n  Start it with: talaria serve --home ${home}\n`);
  },
);

function lines(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

test.each([
  [["help", "statsu"], "There is no command talaria statsu.", "status"],
  [["dm", "help", "snd"], "There is no command talaria dm snd.", "send"],
])("%j: what there is no help for is named, with the nearest", async (args, message, near) => {
  const { code, out, err } = await run(...args);
  expect({ code, out }).toEqual({ code: 64, out: "" });
  expect(err).toMatch(new RegExp(`^USAGE: ${message}\n  Did you mean ${near}\\?`));
  expect((await run("help", "status")).out).toContain("Usage: talaria status");
});
