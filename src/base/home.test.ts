import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { loadAgents } from "./testing/loadAgents.js";
import { ensureHome } from "./ensureHome.js";
import { checkSocketPath, homePaths, homeRoot } from "./home.js";
import { HomeError } from "./homeError.js";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tal-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

test("the root comes from TALARIA_HOME, else from the user's home", () => {
  expect(homeRoot({ TALARIA_HOME: "/x/y/" }, "/u")).toBe("/x/y");
  expect(homeRoot({ TALARIA_HOME: "" }, "/u")).toBe("/u/.talaria");
  expect(homeRoot({}, "/u")).toBe("/u/.talaria");
});

test("run_dir moves the sockets only, and a relative one starts at the root", () => {
  expect(homePaths("/h", "/r").ownerSocket).toBe("/r/owner.sock");
  expect(homePaths("/h", "sockets").gatewaySocket).toBe("/h/sockets/gateway.sock");
  expect(homePaths("/h", "/r").database).toBe("/h/state.db");
});

test("a fresh home gets private directories and one echo agent; a second run changes nothing", () => {
  const paths = homePaths(join(directory, "home"));
  ensureHome(paths);
  for (const path of [paths.root, paths.runDir, paths.tlsDir, paths.logsDir, paths.outboxesDir, paths.cacheDir]) {
    expect(lstatSync(path).mode & 0o777, path).toBe(0o700);
  }
  expect(loadAgents(paths.agentsDir)).toMatchObject([{ name: "main", title: "Main", main: true, runtime: "echo" }]);
  const file = join(paths.agentsDir, "main", "agent.yaml");
  writeFileSync(file, "runtime: echo\ntitle: Mine\n");
  ensureHome(paths);
  expect(readFileSync(file, "utf8")).toContain("Mine");
});

test("an existing empty agents directory stays empty", () => {
  const paths = homePaths(directory);
  mkdirSync(paths.agentsDir);
  ensureHome(paths);
  expect(existsSync(join(paths.agentsDir, "main"))).toBe(false);
});

test("a run directory open to others is closed to them", () => {
  const paths = homePaths(directory);
  mkdirSync(paths.runDir);
  chmodSync(paths.runDir, 0o777);
  ensureHome(paths);
  expect(lstatSync(paths.runDir).mode & 0o777).toBe(0o700);
});

test("a run directory that is a symbolic link or a file is refused", () => {
  const elsewhere = join(directory, "elsewhere");
  mkdirSync(elsewhere);
  const linked = homePaths(join(directory, "home"), join(directory, "link"));
  symlinkSync(elsewhere, linked.runDir);
  expect(() => {
    ensureHome(linked);
  }).toThrow(/symbolic link/);
  writeFileSync(join(directory, "file"), "");
  expect(() => {
    ensureHome(homePaths(join(directory, "home"), join(directory, "file")));
  }).toThrow(HomeError);
});

test.runIf(process.getuid?.() !== 0)("a run directory of someone else is refused", () => {
  expect(() => {
    ensureHome(homePaths(directory, "/"));
  }).toThrow(/belongs to user 0/);
});

test("a socket path of 100 bytes works, of 101 is refused and names the setting", () => {
  checkSocketPath("/" + "a".repeat(99));
  expect(() => {
    checkSocketPath("/" + "a".repeat(100));
  }).toThrow(/101 bytes.*run_dir/);
  expect(() => {
    checkSocketPath("/" + "é".repeat(50));
  }).toThrow(/101 bytes/);
  expect(() => {
    ensureHome(homePaths(join(directory, "x".repeat(90))));
  }).toThrow(/run_dir/);
  expect(existsSync(join(directory, "x".repeat(90)))).toBe(false);
});
