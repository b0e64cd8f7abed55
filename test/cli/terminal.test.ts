import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { inTerminal } from "./pseudoTerminal.js";
import { begin, serve, talaria } from "./useTalaria.js";

const run = (home: string, text: string): readonly string[] => ["--home", home, "run", "main", text];

test("in a terminal a turn shows its text, its tools and a summary", async () => {
  const { home } = await serve();
  const terminal = inTerminal(run(home, '!tool clock {"zone":"utc"} => noon\nHello there'));
  expect(await terminal.ended).toBe(0);
  expect(terminal.output()).toMatch(/\[clock\] \{"zone":"utc"\}/);
  expect(terminal.output()).toMatch(/\[clock: done.*\] noon/);
  expect(terminal.output()).toMatch(/Hello there\n/);
  expect(terminal.output()).toMatch(/completed · \d+\.\d s · .*ses_/);
});

test("an approval is asked inline, a wrong key is asked again, and the answer reaches the agent", async () => {
  const { home } = await serve();
  const terminal = inTerminal(run(home, "!approve rm -rf build"));
  await terminal.until(/rm -rf build\n[\s\S]*y = yes, once.*n = no: /);
  terminal.type("maybe\r");
  await terminal.until(/y = yes, once.*n = no: /);
  terminal.type("y\r");
  await terminal.until(/once/i);
  expect(await terminal.ended).toBe(0);
});

test("questions of a batch are asked one after the other; a number stands for a choice, an empty line skips", async () => {
  const { home } = await serve();
  const terminal = inTerminal(run(home, "!ask Which? | red | green\n!ask Why?"));
  await terminal.until(/\(1\/2\) Which\?\n {2}1\. red\n {2}2\. green\n {2}answer \(empty skips\): /);
  terminal.type("2\r");
  await terminal.until(/\(2\/2\) Why\?\n {2}answer \(empty skips\): /);
  terminal.type("because\r");
  await terminal.until(/green[\s\S]*because/);
  expect(await terminal.ended).toBe(0);
});

test("a prompt that is answered elsewhere is withdrawn", async () => {
  const { home } = await serve();
  const terminal = inTerminal(run(home, "!approve make"));
  await terminal.until(/y = yes, once.*n = no: /);
  const listed = await talaria("--home", home, "--json", "prompts");
  const [{ promptId }] = JSON.parse(listed.stdout) as [{ promptId: string }];
  expect((await talaria("--home", home, "prompts", "answer", promptId, "perhaps")).stderr).toContain("once");
  expect(await talaria("--home", home, "prompts", "answer", promptId, "once")).toMatchObject({ code: 0 });
  await terminal.until(/\(withdrawn\)/);
  expect(await terminal.ended).toBe(0);
  expect((await talaria("--home", home, "prompts", "answer", promptId, "deny")).code).toBe(76);
});

test("the first interrupt stops the turn, also while a person is asked", async () => {
  const { home } = await serve();
  for (const [text, shown] of [
    ["Begin\n!sleep 60000", /Begin/],
    ["!approve make", /y = yes, once.*n = no: /],
  ] as const) {
    const terminal = inTerminal(run(home, text));
    await terminal.until(shown);
    terminal.type("\x03");
    await terminal.until(/Stopping the turn; interrupt again to leave it\./);
    expect(await terminal.ended).toBe(130);
  }
  const { stdout } = await talaria("--home", home, "--json", "status");
  expect(JSON.parse(stdout)).toMatchObject({ turns: { admitted: "2", ended: "2" } });
});

test("the second interrupt leaves a turn that does not stop", async () => {
  const { home } = await serve();
  const terminal = inTerminal(run(home, "Begin\n!deaf\n!sleep 60000"));
  await terminal.until(/Begin/);
  terminal.type("\x03");
  await terminal.until(/interrupt again/);
  terminal.type("\x03");
  expect(await terminal.ended).toBe(130);
});

test("a failure is a card: reason, what happened, what to do, its class", async () => {
  const { home } = await serve();
  const terminal = inTerminal(run(home, "!fail PROVIDER_QUOTA The month is used up."));
  expect(await terminal.ended).toBe(75);
  // Colours in a terminal, none where NO_COLOR says so.
  expect(terminal.raw()).toMatch(/\u001b\[\d+mPROVIDER_QUOTA/);
  const plain = inTerminal(run(home, "!fail PROVIDER_QUOTA The month is used up."), { env: { NO_COLOR: "1" } });
  expect(await plain.ended).toBe(75);
  expect(plain.output()).toMatch(
    /^PROVIDER_QUOTA: The month is used up\.\n {2}\S.*\n {2}class: quota wall\n[\s\S]*session: ses_/m,
  );
  expect(plain.raw()).not.toContain("\u001b");
});

test("a terminal of 40 columns gets blocks instead of tables, and no line of a tool is longer", async () => {
  const { home } = await serve();
  const turn = inTerminal(run(home, `!tool clock {"zone":"${"u".repeat(90)}"} => ${"n".repeat(90)}`), { columns: 40 });
  expect(await turn.ended).toBe(0);
  const tools = turn
    .output()
    .split("\n")
    .filter((line) => line.includes("[clock"));
  expect(tools).toHaveLength(2);
  for (const line of tools) expect(line.length).toBeLessThanOrEqual(40);
  const sessions = inTerminal(["--home", home, "sessions"], { columns: 40 });
  expect(await sessions.ended).toBe(0);
  expect(sessions.output()).toMatch(/^session {2}ses_\S+\nagent {4}main$/m);
  const help = inTerminal(["run", "--help"], { columns: 40 });
  expect(await help.ended).toBe(0);
  for (const line of help.output().split("\n")) expect(line.length).toBeLessThanOrEqual(60);
});

test("piped, nothing but the answer is printed, and the usage goes to its file", async () => {
  const { home } = await serve();
  const file = join(home, "usage.json");
  const text = "!tool clock {} => noon\n!usage 11 7 0.25\nHello";
  const ended = await talaria("--home", home, "run", "main", text, "--usage-file", file);
  expect(ended.code).toBe(0);
  expect(ended.stderr).toBe("");
  expect(ended.stdout).toMatch(/Hello\n$/);
  expect(ended.stdout).not.toContain("[clock");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    outcome: "completed",
    usage: { inputTokens: "11", outputTokens: "7", estimatedCostUsd: 0.25 },
  });
  const failed = await talaria("--home", home, "run", "main", "!fail PROVIDER_QUOTA No more.", "--usage-file", file);
  expect(failed.code).toBe(75);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ outcome: "failed", reason: "PROVIDER_QUOTA" });
  writeFileSync(join(home, "blocked"), "");
  const nowhere = await talaria("--home", home, "run", "main", "Hi", "--usage-file", join(home, "blocked", "u.json"));
  expect(nowhere.code).toBe(74);
  expect(nowhere.stderr).toContain("do not run it again");
});

test("piped, an interrupt stops the turn", async () => {
  const { home } = await serve();
  const { child, ended } = begin("--home", home, "--json", "run", "main", "Begin\n!sleep 60000");
  await new Promise<void>((resolve) => {
    let text = "";
    child.stdout.on("data", (more: string) => {
      text += more;
      if (text.includes("Begin")) resolve();
    });
  });
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130 });
});
