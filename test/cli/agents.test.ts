import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { serve, talaria, temporaryHome } from "./useTalaria.js";

/** Commands that follow one another in one test, each a process of its own. */
const MANY_COMMANDS = { timeout: 120_000 };

function agent(home: string, name: string, text: string): string {
  const folder = join(home, "agents", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "agent.yaml"), text);
  return join(folder, "agent.yaml");
}

test("agents new makes folders that are in order, and overwrites nothing", async () => {
  const home = temporaryHome();
  const made = await talaria("--home", home, "agents", "new", "coder", "--runtime", "openai", "--title", "The coder");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const file = join(home, "agents", "coder", "agent.yaml");
  expect(readFileSync(file, "utf8")).toContain('title: "The coder"');
  expect(readFileSync(join(home, "agents", "coder", "instructions.md"), "utf8")).not.toBe("");
  writeFileSync(file, "runtime: echo\n# mine\n");
  expect(await talaria("--home", home, "agents", "new", "coder")).toMatchObject({ code: 73, stdout: "" });
  expect(readFileSync(file, "utf8")).toBe("runtime: echo\n# mine\n");
  expect((await talaria("--home", home, "agents", "new", "Not a name")).code).toBe(64);
  expect((await talaria("--home", home, "agents", "new", "x", "--runtime", "magic")).code).toBe(64);
  expect((await talaria("--home", home, "agents", "new", "plain")).code).toBe(0);
  expect(await talaria("--home", home, "agents", "check")).toMatchObject({
    code: 0,
    stdout: "In order: coder, plain\n",
  });
});

test("agents check names every mistake of every agent, or of one", async () => {
  const home = temporaryHome();
  const a = agent(home, "a", "runtime: openai\nmodle: m\napprovals: alow\nlimits:\n  memory_mib: 1\n");
  const b = agent(home, "b", "runtime: [\n");
  agent(home, "c", "runtime: echo\n");
  const all = await talaria("--home", home, "agents", "check");
  expect(all.code).toBe(78);
  expect(all.stdout.split("\n")).toEqual([
    `${a}: model: is required by runtime openai`,
    `${a}:2: modle: unknown key (did you mean model?)`,
    `${a}:3: approvals: must be ask, deny or allow (did you mean allow?)`,
    `${a}:5: limits.memory_mib: Too small: expected number to be >=96`,
    expect.stringContaining(`${b}:2: `),
    "In order: c",
    "",
  ]);
  const one = await talaria("--home", home, "--json", "agents", "check", "a");
  expect(JSON.parse(one.stdout)).toMatchObject({
    valid: [],
    problems: [{ key: "model" }, { file: a, line: 2, key: "modle", hint: "did you mean model?" }, {}, {}],
  });
  expect((await talaria("--home", home, "agents", "check", "c")).code).toBe(0);
  expect((await talaria("--home", home, "agents", "check", "nobody")).code).toBe(66);
});

test("a gateway with an invalid agent serves the others, shows the mistake and refuses turns with its place", async () => {
  const home = temporaryHome();
  agent(home, "main", "runtime: echo\nmain: true\n");
  const file = agent(home, "broken", "runtime: openai\nmodle: m\n");
  await serve(home);
  expect(await talaria("--home", home, "run", "main", "Hello")).toMatchObject({ code: 0, stdout: "Hello\n" });
  const refused = await talaria("--home", home, "run", "broken", "Hello");
  expect(refused.code).toBe(78);
  expect(refused.stderr).toContain(`AGENT_INVALID: ${file}:2: modle: unknown key`);
  expect(refused.stderr).toContain("Did you mean model?");
  const listed = await talaria("--home", home, "--json", "agents", "list");
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { name: "broken", problem: `${file}:2: modle: unknown key (did you mean model?) (and 1 more)` },
    { name: "main", main: true },
  ]);
  const status = await talaria("--home", home, "--json", "status");
  const { problems } = JSON.parse(status.stdout) as { readonly problems: readonly { readonly message: string }[] };
  expect(problems.map(({ message }) => message)).toEqual([
    `${file}:2: modle: unknown key`,
    `${file}: model: is required by runtime openai`,
  ]);
});

test(
  "reload: a changed file affects new sessions only, and an agent that is gone refuses work",
  MANY_COMMANDS,
  async () => {
    const home = temporaryHome();
    agent(home, "main", "runtime: echo\n");
    agent(home, "kid", "runtime: echo\n");
    await serve(home);
    const first = await talaria("--home", home, "--json", "run", "kid", "Hello");
    const session = /"sessionId":"(ses_[^"]+)"/.exec(first.stdout)?.[1] ?? "none";
    expect(await talaria("--home", home, "reload")).toMatchObject({ code: 0, stdout: "Nothing has changed.\n" });

    agent(home, "kid", "runtime: command\nworker: { command: [/no/such/worker] }\n");
    agent(home, "late", "runtime: echo\n");
    expect(await talaria("--home", home, "run", "late", "Hello")).toMatchObject({ code: 66 });
    expect(await talaria("--home", home, "reload")).toMatchObject({
      code: 0,
      stdout: "Added: late\nChanged, for new sessions (budgets at once): kid\n",
    });
    expect(await talaria("--home", home, "run", "late", "Hello")).toMatchObject({ code: 0, stdout: "Hello\n" });
    expect(await talaria("--home", home, "run", "kid", "Again", "--session", session)).toMatchObject({
      code: 0,
      stdout: "Again\n",
    });
    const fresh = await talaria("--home", home, "run", "kid", "Hello");
    expect(fresh.stderr).toContain("WORKER_SPAWN_FAILED");

    rmSync(join(home, "agents", "kid"), { recursive: true });
    agent(home, "late", "runtime: ekko\n");
    const reloaded = await talaria("--home", home, "reload");
    expect(reloaded.code).toBe(78);
    expect(reloaded.stdout).toMatch(
      /^Changed, for new sessions \(budgets at once\): late\nRemoved: kid\n! .*late\/agent\.yaml:1: runtime: /,
    );
    expect((await talaria("--home", home, "run", "kid", "Hello")).code).toBe(66);
    const old = await talaria("--home", home, "run", "kid", "Hello", "--session", session);
    expect([old.code, old.stderr]).toEqual([66, expect.stringContaining("UNKNOWN_AGENT")]);
  },
);

const worker = fileURLToPath(new URL("unbuildableWorker.ts", import.meta.url));
const tsx = import.meta.resolve("tsx");

test(
  "a turn that could not be begun or paid for ends the command with 75 for a quota and 78 for its configuration",
  MANY_COMMANDS,
  async () => {
    const home = temporaryHome();
    agent(home, "main", "runtime: echo\n");
    agent(home, "keyless", "runtime: openai\nmodel: m\napi_key_env: NOT_SET_HERE\n");
    for (const reason of ["PROVIDER_QUOTA", "PROVIDER_AUTH", "RUNTIME_CONFIG"]) {
      const name = reason.toLowerCase();
      const command = JSON.stringify([process.execPath, "--import", tsx, worker, reason]);
      agent(home, name, `runtime: command\nworker: { command: ${command} }\n`);
    }
    await serve(home);
    const codeOf = async (...args: readonly string[]): Promise<readonly [number | null, string]> => {
      const { code, stderr } = await talaria("--home", home, "run", ...args);
      return [code, stderr.split(":")[0] ?? ""];
    };
    expect(
      await Promise.all([
        codeOf("main", "!fail PROVIDER_QUOTA Too much"),
        codeOf("main", "!fail PROVIDER_AUTH Wrong key"),
        codeOf("keyless", "Hello"),
        codeOf("provider_quota", "Hello"),
        codeOf("provider_auth", "Hello"),
        codeOf("runtime_config", "Hello"),
      ]),
    ).toEqual([
      [75, "PROVIDER_QUOTA"],
      [78, "PROVIDER_AUTH"],
      [78, "RUNTIME_CONFIG"],
      [75, "PROVIDER_QUOTA"],
      [78, "PROVIDER_AUTH"],
      [78, "RUNTIME_CONFIG"],
    ]);
  },
);
