import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

import { systemSpawner } from "./spawner.js";

const SLEEPER = { command: ["sleep", "60"], env: { PATH: process.env["PATH"] ?? "" }, directory: "/" } as const;

test.each([0, 7])("a process stands back by %i, with the session that it leads", async (nice) => {
  const { pid, exited } = await systemSpawner(nice)(SLEEPER);
  try {
    expect(getPriority(pid)).toBe(getPriority() + nice);
    const group = `/proc/${String(pid)}/autogroup`;
    if (existsSync(group))
      expect(readFileSync(group, "utf8")).toMatch(new RegExp(`^/autogroup-\\d+ nice ${String(nice)}\\n$`));
  } finally {
    process.kill(pid, "SIGKILL");
  }
  expect(await exited).toEqual({ code: null, signal: "SIGKILL" });
});

test("what a process starts stands back with it", async () => {
  const { pid, stdin, stdout, exited } = await systemSpawner(3)({ ...SLEEPER, command: ["sh", "-c", "read go; nice"] });
  expect(getPriority(pid)).toBe(getPriority() + 3);
  stdin.end("go\n");
  expect(Number(await text(stdout))).toBe(getPriority() + 3);
  await exited;
});
