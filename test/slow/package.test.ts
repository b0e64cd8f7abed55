import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

import { pack } from "../../scripts/pack.mjs";

const run = promisify(execFile);

/** Packages that nothing of an installation may bring along: they compile, bundle or test, or are inside the worker's files. */
const UNWANTED = ["typescript", "esbuild", "vitest", "tsx", "ts-proto", "@bufbuild/buf", "@modelcontextprotocol", "ai"];
/** Most that an installation may take, bytes. */
const SIZE_BOUND = 110 * 2 ** 20;

let folder: string;
let tarball: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tp-"));
  tarball = await pack(join(folder, "packed"));
  writeFileSync(join(folder, "package.json"), '{ "name": "empty", "private": true }');
  // No package's own installation runs: nothing is compiled.
  const options = ["--ignore-scripts", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...options, tarball], { cwd: folder });
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What the installed command sees of its surroundings: nothing of this checkout, and no terminal. */
function surroundings(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: folder, TALARIA_HOME: join(folder, "home"), TALARIA_CONFIG_DIR: folder };
}

async function talaria(...args: readonly string[]): Promise<string> {
  const { stdout } = await run("npx", ["--no-install", "talaria", ...args], { cwd: folder, env: surroundings() });
  return stdout;
}

function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

test("an installation of the tarball is small and brings no tool along", () => {
  const modules = join(folder, "node_modules");
  expect(UNWANTED.filter((name) => existsSync(join(modules, name)))).toEqual([]);
  expect(sizeOf(modules)).toBeLessThan(SIZE_BOUND);
  const licences = readFileSync(join(modules, "talaria", "dist", "LICENCES.txt"), "utf8");
  for (const inside of ["@modelcontextprotocol/sdk", "@ai-sdk/openai-compatible", "zod", "@grpc/grpc-js"]) {
    expect(licences).toContain(`\n${inside} `);
  }
});

test("what the pages of the installed package point at has come with it, but for the sources", () => {
  const root = join(folder, "node_modules", "talaria");
  const pages = ["README.md", "ARCHITECTURE.md", ...readdirSync(join(root, "docs")).map((name) => join("docs", name))];
  const dead = pages
    .filter((page) => page.endsWith(".md"))
    .flatMap((page) =>
      [...readFileSync(join(root, page), "utf8").matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^[a-z]+:/.test(target) && !/^\.\.\/(?:src|test|bench)\//.test(target))
        .filter((target) => !existsSync(join(root, dirname(page), target))),
    );
  expect(dead).toEqual([]);
});

test("the installed package makes a home, serves it, runs a turn and drains at SIGTERM", async () => {
  await talaria("init");
  const command = join(folder, "node_modules", ".bin", "talaria");
  const gateway = spawn(command, ["--json", "serve"], {
    cwd: folder,
    env: surroundings(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(gateway);
  let log = "";
  gateway.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const ended = once(gateway, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const line = once(createInterface({ input: gateway.stdout }), "line") as Promise<[string]>;
  await Promise.race([line, ended.then(() => Promise.reject(new Error(`it ended before it served: ${log}`)))]);

  const agents = await talaria("--json", "agents", "list");
  const [agent] = JSON.parse(agents) as { name: string }[];
  if (agent === undefined) throw new Error(`no agent: ${agents}`);
  expect(await talaria("run", agent.name, "hello there")).toContain("hello there");

  gateway.kill("SIGTERM");
  expect(await ended, log).toEqual([0, null]);
});

test("the installed libraries are found by their names, and their types are there", async () => {
  const script =
    'const [c, w] = await Promise.all([import("talaria/client"), import("talaria/worker")]); console.log(Object.keys(c).length > 0 && Object.keys(w).length > 0)';
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", script], { cwd: folder });
  expect(stdout.trim()).toBe("true");
  const root = join(folder, "node_modules", "talaria");
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: Record<string, { types?: string }>;
  };
  for (const { types } of Object.values(exports))
    if (types !== undefined) expect(existsSync(join(root, types))).toBe(true);
});

test("the image's steps put the command where they are told to", async () => {
  const prefix = join(folder, "prefix");
  // The packages are those of the installation before: the registry need not be asked for each again.
  const env = { ...process.env, npm_config_prefer_offline: "true" };
  await run("sh", ["packaging/docker/install.sh", tarball, prefix], { env });
  const { stdout } = await run(join(prefix, "bin", "talaria"), ["--version"], { env: surroundings() });
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(stdout.trim()).toBe(version);
});
