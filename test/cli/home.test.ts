import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { serve, talaria, temporaryHome } from "./useTalaria.js";

test("init makes a home that is in order, serves, and is not made twice", async () => {
  const home = join(temporaryHome(), "h");
  const made = await talaria("init", "--home", home);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain(`Start it with: talaria serve --home ${home}`);
  for (const file of ["talaria.yaml", "agents/main/agent.yaml"]) {
    expect(statSync(join(home, file)).mode & 0o777).toBe(0o600);
  }
  expect(statSync(home).mode & 0o777).toBe(0o700);
  expect(await talaria("--home", home, "config", "check")).toMatchObject({
    code: 0,
    stdout: `${home} is in order: 1 agent.\n`,
  });
  const before = readFileSync(join(home, "talaria.yaml"), "utf8");
  const again = await talaria("--home", home, "init");
  expect(again.code).toBe(73);
  expect(again.stderr).toMatch(/^ALREADY_EXISTS: .+\n {2}Look at it/);
  expect(readFileSync(join(home, "talaria.yaml"), "utf8")).toBe(before);
  await serve(home);
  expect((await talaria("--home", home, "run", "main", "Hello")).stdout).toBe("Hello\n");
});

test("config check names every problem with file, line, key and the nearest key", async () => {
  const home = temporaryHome("# one\nlisteners:\n  client_tpc: { port: 1 }\nlog_level: loud\n");
  mkdirSync(join(home, "agents", "a"), { recursive: true });
  writeFileSync(join(home, "agents", "a", "agent.yaml"), "runtime: ehco\n");
  const ended = await talaria("--home", home, "config", "check");
  expect(ended.code).toBe(78);
  const lines = ended.stdout.trim().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[0]).toBe(`${home}/talaria.yaml:3: listeners.client_tpc: unknown key (did you mean client_tcp?)`);
  expect(lines[1]).toMatch(/talaria\.yaml:4: log_level: /);
  expect(lines[2]).toMatch(/agents\/a\/agent\.yaml:1: runtime: /);
  const json = JSON.parse((await talaria("--home", home, "--json", "config", "check")).stdout) as {
    problems: object[];
  };
  expect(json.problems[0]).toMatchObject({ line: 3, key: "listeners.client_tpc" });
  expect(await talaria("--home", join(home, "none"), "config", "check")).toMatchObject({ code: 66 });
});

test("config check and doctor name a bind beyond this machine without TLS, which serve refuses", async () => {
  const home = temporaryHome("name: west\nlisteners: { client_tcp: { host: 0.0.0.0, port: 0 } }\n");
  const { code, stdout } = await talaria("--home", home, "config", "check");
  expect(code).toBe(78);
  expect(stdout).toMatch(/talaria\.yaml:2: listeners\.client_tcp\.host: 0\.0\.0\.0 is beyond this machine.+tls: \{\}/);
  const doctor = await talaria("--home", home, "doctor");
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(/^PROBLEM +configuration .+0\.0\.0\.0/m) });
});

test("config show says where each setting comes from", async () => {
  const home = temporaryHome("name: north\nworkers:\n  pool_size: 3\nbudgets: { drain_ms: 60000 }\n");
  const { stdout, code } = await talaria("--home", home, "config", "show");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^name +north +talaria\.yaml:1$/m);
  expect(stdout).toMatch(/^workers\.pool_size +3 +talaria\.yaml:3$/m);
  expect(stdout).toMatch(/^workers\.max +\d+ +this machine$/m);
  expect(stdout).toMatch(/^budgets\.drain_ms +60000 +talaria\.yaml:4$/m);
  expect(stdout).toMatch(/^budgets\.hello_ms +60000 +default$/m);
});

test("doctor finds a home in order, with and without a gateway, and ends with 1 where something is wrong", async () => {
  const home = temporaryHome("listeners: { client_tcp: { port: 0 } }\n");
  const before = await talaria("--home", home, "doctor");
  expect(before).toMatchObject({ code: 0, stderr: "" });
  expect(before.stdout).toMatch(/^- +gateway +No gateway runs on .+Start it with: talaria serve/m);
  await serve(home);
  const { stdout, code } = await talaria("--home", home, "doctor");
  expect(code).toBe(0);
  for (const check of ["node", "home", "sockets", "disk", "clock", "ports", "certificates", "agents", "gateway"]) {
    expect(stdout).toMatch(new RegExp(`^(ok|warning) +${check} `, "m"));
  }
  rmSync(join(home, "agents", "main", "agent.yaml"));
  writeFileSync(join(home, "agents", "main", "agent.yaml"), "runtime: nothing\n");
  const wrong = await talaria("--home", home, "doctor");
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toMatch(
    /^PROBLEM +configuration +.+agent\.yaml:1: runtime: .+\n +fix: Mend it there, .*talaria config check/m,
  );
  const findings = JSON.parse((await talaria("--home", home, "--json", "doctor")).stdout) as { level: string }[];
  expect(findings.filter(({ level }) => level === "problem")).toHaveLength(1);
});

test("doctor on a configuration with a typo tells of it and goes on", async () => {
  const home = temporaryHome("lisstener: {}\n");
  const ended = await talaria("--home", home, "doctor");
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/^PROBLEM +configuration +.+talaria\.yaml:1: lisstener: unknown key/m);
  expect(ended.stdout).toMatch(/^(ok|warning) +disk /m);
});
