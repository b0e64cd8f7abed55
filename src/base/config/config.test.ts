import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { ConfigError } from "../configError.js";
import { agentConfigSchema } from "./agentConfigSchema.js";
import { gatewayConfigSchema, loadGatewayConfig, resolveGatewayConfig } from "./gatewayConfig.js";
import { loadAgents } from "../testing/loadAgents.js";
import { readAgents } from "./readAgents.js";
import { parseYaml } from "./loadYaml.js";
import { defaultWorkerCap, gatewayNameFrom, thisMachine } from "./machine.js";

const machine = { hostname: "My Box.local", totalMemoryBytes: 4 * 1024 ** 3 };
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tal-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function errorOf(run: () => unknown): ConfigError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("talaria.yaml", () => {
  test("a missing file gives the defaults", () => {
    const config = loadGatewayConfig(join(directory, "talaria.yaml"), machine);
    expect(config).toMatchObject({
      name: "my-box",
      listeners: { reflectionOnTcp: false },
      workers: { poolSize: 1, max: 16, nice: 5 },
      dm: { enabled: true },
      peers: {},
      logLevel: "info",
    });
    expect(config.budgets.helloMs).toBe(60_000);
    expect(config.listeners.peers).toBeUndefined();
    expect("runDir" in config).toBe(false);
  });

  test("an empty listener gets the documented port, and overrides arrive", () => {
    const file = join(directory, "talaria.yaml");
    writeFileSync(
      file,
      "name: alpha\nlisteners:\n  client_tcp: {}\n  peers: { port: 0 }\nbudgets:\n  hello_ms: 5000\npeers:\n  beta: { address: 'localhost:7421', pin: abc }\n",
    );
    expect(loadGatewayConfig(file, machine)).toMatchObject({
      name: "alpha",
      listeners: { clientTcp: { host: "127.0.0.1", port: 7420 }, peers: { host: "0.0.0.0", port: 0 } },
      budgets: { helloMs: 5_000, drainMs: 30_000 },
      peers: { beta: { address: "localhost:7421", pin: "abc" } },
    });
  });

  test("a connector has no address", () => {
    const written = parseYaml("peers:\n  laptop: { connector: true, pin: abc }\n", "talaria.yaml", gatewayConfigSchema);
    expect(resolveGatewayConfig(written, thisMachine()).peers).toEqual({
      laptop: { address: "", connector: true, pin: "abc" },
    });
  });

  test.each([
    ["nmae: x\n", { line: 1, key: "nmae", hint: "did you mean name?" }],
    [
      "name: x\nlisteners:\n  peers:\n    prot: 1\n",
      { line: 4, key: "listeners.peers.prot", hint: "did you mean port?" },
    ],
    [
      "peers:\n  beta:\n    adress: a:1\n    pin: x\n",
      { line: 3, key: "peers.beta.adress", hint: "did you mean address?" },
    ],
    ["peers:\n  beta:\n    pin: x\n", { line: 2, key: "peers.beta.address" }],
    ["peers:\n  beta: { connector: true, address: 'a:1', pin: x }\n", { line: 2, key: "peers.beta.address" }],
    [
      "peers:\n  beta:\n    address: a:1\n    pin: x\n    agnets: []\n",
      { key: "peers.beta.agnets", line: 5, hint: "did you mean agents?" },
    ],
    ["budgets:\n  helo_ms: 5\n", { line: 2, key: "budgets.helo_ms", hint: "did you mean hello_ms?" }],
    ["# c\nbudgets:\n  drain_ms: 60000\n  stop_term_after_ms: 26000\n", { line: 4, key: "budgets.stop_term_after_ms" }],
    ["workers:\n  max: many\n", { line: 2, key: "workers.max" }],
    ["name: a\nname: b\n", { line: 2 }],
    ["name: [\n", { line: 2 }],
    ["name: Bad Name\n", { line: 1, key: "name" }],
    ["zzzzzz: 1\n", { line: 1, key: "zzzzzz", problem: "unknown key" }],
    ["- a\n", {}],
  ])("%j is refused with its place", (text, expected: Partial<ConfigError>) => {
    const error = errorOf(() => parseYaml(text, "talaria.yaml", gatewayConfigSchema));
    expect(error).toMatchObject({ file: "talaria.yaml", ...expected });
    if (expected.line !== undefined)
      expect(error.message).toMatch(new RegExp(`^talaria.yaml:${String(expected.line)}:`));
  });

  test("an unreadable file is named", () => {
    expect(errorOf(() => loadGatewayConfig(directory, machine))).toMatchObject({ file: directory, problem: /EISDIR/ });
    // A pipe would be waited for.
    expect(errorOf(() => loadGatewayConfig("/dev/zero", machine))).toMatchObject({ problem: "is no regular file" });
  });
});

describe("agents", () => {
  function agent(name: string, text: string): void {
    mkdirSync(join(directory, name), { recursive: true });
    writeFileSync(join(directory, name, "agent.yaml"), text);
  }

  test("defaults, instructions and relative files", () => {
    agent("coder", "runtime: openai\nmodel: m\napi_key_file: key\n");
    writeFileSync(join(directory, "coder", "instructions.md"), "Be brief.\n");
    mkdirSync(join(directory, "notes"));
    expect(loadAgents(directory)).toEqual([
      {
        name: "coder",
        directory: join(directory, "coder"),
        title: "coder",
        description: "",
        main: true,
        runtime: "openai",
        model: {
          name: "m",
          provider: "",
          baseUrl: "",
          apiKey: { kind: "file", path: join(directory, "coder", "key") },
        },
        fallbackModels: [],
        mcpServers: {},
        workerEnv: {},
        private: false,
        messaging: true,
        approvals: "ask",
        terminal: { sandbox: "none", user: "" },
        limits: {},
        budget: {},
        hooks: [],
        instructions: "Be brief.\n",
      },
    ]);
  });

  test("programs that are named by paths start at the folder, others are looked for", () => {
    agent(
      "ada",
      `runtime: command
worker: { command: [./worker, ./argument] }
mcp_servers: { a: { command: [node, ./x] }, b: { command: [/bin/b] } }
hooks: { turn_ended: [{ command: [../note] }] }
`,
    );
    expect(loadAgents(directory)).toMatchObject([
      {
        workerCommand: [join(directory, "ada", "worker"), "./argument"],
        mcpServers: { a: { command: ["node", "./x"] }, b: { command: ["/bin/b"] } },
        hooks: [{ command: [join(directory, "note")] }],
      },
    ]);
  });

  test("one main agent: the one that says so, else the first; two are refused", () => {
    agent("b", "runtime: echo\nmain: true\n");
    agent("a", "runtime: echo\n");
    expect(loadAgents(directory).map(({ name, main }) => [name, main])).toEqual([
      ["a", false],
      ["b", true],
    ]);
    agent("a", "runtime: echo\nmain: true\n");
    expect(errorOf(() => loadAgents(directory))).toMatchObject({ key: "main", problem: "a is the main agent already" });
  });

  test("a folder with an impossible name and a missing agents directory", () => {
    agent("Bad Name", "runtime: echo\n");
    expect(errorOf(() => loadAgents(directory)).hint).toBe("rename the folder");
    expect(loadAgents(join(directory, "none"))).toEqual([]);
  });

  test.each([
    ["runtime: echoo\n", { line: 1, key: "runtime", hint: "did you mean echo?" }],
    ["title: x\n", { key: "runtime", problem: "is required: must be echo, openai, acp or command" }],
    ["runtime: openai\n", { key: "model" }],
    ["runtime: command\nworker: {}\n", { key: "worker.command", line: 2 }],
    ["runtime: openai\nmodel: m\napi_key_file: a\napi_key_env: b\n", { key: "api_key_env", line: 4 }],
    ["runtime: echo\napi_key_env: KEY\n", { key: "api_key_env", line: 2, problem: "needs a model with runtime echo" }],
    ["runtime: acp\nworker: { command: [x] }\napi_key_file: key\n", { key: "api_key_file", line: 3 }],
    ["runtime: openai\napi_key_env: KEY\n", { key: "model", problem: "is required by runtime openai" }],
    ["runtime: echo\nlimits:\n  turn_limit: 3\n", { key: "limits.turn_limit", hint: "did you mean turn_limit_ms?" }],
    ["runtime: echo\nmcp_servers:\n  fs:\n    comand: [x]\n", { line: 4, key: "mcp_servers.fs.comand" }],
    ["runtime: openai\nmodel: m\nfallback_models:\n  - { modle: x }\n", { hint: "did you mean model?", line: 4 }],
    ["runtime: echo\nmcp_servers:\n  fs: { command: [x], url: 'http://x' }\n", { key: "mcp_servers.fs.url", line: 3 }],
    ["runtime: echo\nmcp_servers:\n  fs: {}\n", { key: "mcp_servers.fs.command", line: 3 }],
    ["runtime: echo\nmcp_servers:\n  Fs: { command: [x] }\n", { key: "mcp_servers.Fs", line: 3 }],
    ["runtime: echo\nmcp_servers:\n  fs: { command: [x], env: { PORT: 8080 } }\n", { problem: /put it in quotes/ }],
    ["runtime: echo\nhooks:\n  turn_start: []\n", { hint: "did you mean turn_started?", line: 3 }],
    ["runtime: echo\nhooks:\n  turn_ended: [{ command: [x], timeout_ms: 60001 }]\n", { line: 3 }],
    ["runtime: echo\nworker: { env: { KEY: { env: KEY } } }\n", { key: "worker.env.KEY" }],
    [
      "runtime: openai\nmodel: m\nbase_url: http://me:word@h/v1\n",
      { key: "base_url", line: 3, problem: /no password/ },
    ],
    ["runtime: echo\nmcp_servers:\n  a: { url: 'https://me@h/' }\n", { key: "mcp_servers.a.url", line: 3 }],
    ['runtime: echo\nhooks:\n  turn_ended: [{ command: ["a\\0b"] }]\n', { line: 3, problem: "holds U+0000" }],
    ["runtime: echo\nfallback_models: [m]\n", { key: "fallback_models", problem: "needs a model before it" }],
  ])("%j is refused", (text, expected) => {
    expect(errorOf(() => parseYaml(text, "agent.yaml", agentConfigSchema))).toMatchObject(expected);
  });

  test("one look names every mistake of every agent, and keeps those that can be used", () => {
    agent("a", "runtime: openai\nmodle: m\napprovals: alow\nlimits:\n  memory_mib: 1\n");
    agent("b", "runtime: echo\nmain: true\nname: c\n");
    agent("c", "runtime: echo\n");
    agent("d", "runtime: [\n");
    agent("e", "runtime: echo\nmain: true\n");
    agent("Not A Name", "runtime: echo\n");
    mkdirSync(join(directory, "c", "instructions.md"));
    agent("f", "runtime: echo\n");
    const { agents, invalid, problems } = readAgents(directory);
    expect(agents.map(({ name, main }) => [name, main])).toEqual([["f", false]]);
    const file = (name: string) => join(directory, name, "agent.yaml");
    expect(invalid.flatMap((one) => one.problems.map(({ message }) => message))).toEqual([
      `${file("a")}:2: modle: unknown key (did you mean model?)`,
      `${file("a")}: model: is required by runtime openai`,
      `${file("a")}:3: approvals: must be ask, deny or allow (did you mean allow?)`,
      `${file("a")}:5: limits.memory_mib: Too small: expected number to be >=96`,
      `${file("b")}:3: name: is not the folder's name, b (leave it out)`,
      `${join(directory, "c", "instructions.md")}: is not a file`,
      expect.stringMatching(/^.*\/d\/agent\.yaml:2: /) as string,
      `${file("e")}:2: main: b is the main agent already`,
    ]);
    expect(invalid.map(({ name, main }) => [name, main])).toEqual([
      ["a", false],
      ["b", true],
      ["c", false],
      ["d", false],
      ["e", false],
    ]);
    expect(problems.map(({ hint }) => hint)).toEqual(["rename the folder"]);
  });
});

test("names from host names, and the cap from memory", () => {
  expect(["Box", "a.b.c", "--x--", "Ünï", "", "日本"].map(gatewayNameFrom)).toEqual([
    "box",
    "a",
    "x",
    "n",
    "gateway",
    "gateway",
  ]);
  expect([0, 256, 1_024, 1_000_000].map((mib) => defaultWorkerCap(mib * 1024 ** 2))).toEqual([1, 1, 4, 64]);
});
