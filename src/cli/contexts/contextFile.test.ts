import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { contextsPath, readContexts, writeContexts } from "./contextFile.js";

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), "tx-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return join(folder, "deep", "contexts.json");
}

test("what is written is read; a missing file holds none", () => {
  const path = file();
  expect(readContexts(path)).toEqual({ contexts: {} });
  const contexts = { current: "a", contexts: { a: { address: "a:1", token: "t" }, b: { home: "/b" } } };
  writeContexts(path, contexts);
  expect(readContexts(path)).toEqual(contexts);
});

test.each<[unknown, string]>([
  [[], "contexts.json: is not valid"],
  [{ contexts: {}, extra: 1 }, "extra: is not valid"],
  [{ contexts: {}, current: "" }, "current: is not valid"],
  [{}, "contexts: is not valid"],
  [{ contexts: { a: "x" } }, "contexts.a: is not valid"],
  [{ contexts: { a: { token: 1 } } }, "contexts.a.token: is not valid"],
  [{ contexts: { a: { adress: "x:1" } } }, "contexts.a.adress: is not valid"],
])("%j is refused by its key", (value, message) => {
  const path = file();
  writeContexts(path, { contexts: {} });
  writeFileSync(path, JSON.stringify(value));
  expect(() => readContexts(path)).toThrow(message);
});

test.each([
  [{ TALARIA_CONFIG_DIR: "/own", XDG_CONFIG_HOME: "/xdg" }, "/own/contexts.json"],
  [{ XDG_CONFIG_HOME: "/xdg" }, "/xdg/talaria/contexts.json"],
  [{}, "/home/me/.config/talaria/contexts.json"],
])("%j keeps them in %s", (env, path) => {
  expect(contextsPath(env, "/home/me")).toBe(path);
});
