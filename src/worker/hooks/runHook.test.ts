import { expect, test } from "vitest";

import { systemClock } from "../../base/clock.js";
import { runHook } from "./runHook.js";

const run = (...command: string[]) =>
  runHook({
    command,
    env: { PATH: process.env["PATH"] ?? "" },
    input: "{}",
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    clock: systemClock,
  });

test.each([
  ["that is not there", ["no-such-program"], "ENOENT"],
  ["behind a file", ["/dev/null/hook"], "ENOTDIR"],
  ["with a name that is too long", [`/${"x".repeat(300)}`], "ENAMETOOLONG"],
  ["with an argument that is too long", ["true", "x".repeat(300_000)], "E2BIG"],
  ["with U+0000 in its name", ["a\0b"], "ERR_INVALID_ARG_VALUE"],
  ["with U+0000 in an argument", ["true", "a\0b"], "ERR_INVALID_ARG_VALUE"],
] as const)("a hook %s is told of and never thrown", async (_, command, code) => {
  expect(await run(...command)).toEqual({ output: "", problem: `cannot be started: ${code}` });
});

test("what a hook prints is its output where it ends well", async () => {
  expect(await run("echo", "hello")).toEqual({ output: "hello\n", problem: undefined });
});
