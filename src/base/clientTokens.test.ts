import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { createClientToken, hashOfToken, readClientTokens, revokeClientToken } from "./clientTokens.js";
import { systemClock } from "./clock.js";
import { ConfigError } from "./configError.js";
import { systemRandom } from "./random.js";

const ports = { clock: systemClock, random: systemRandom };
let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "talaria-tokens-"));
  file = join(directory, "client-tokens.yaml");
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

test("a token is kept by its hash in a private file", () => {
  const token = createClientToken(file, { name: "laptop", role: "client" }, ports);
  expect(token).toMatch(/^tal_[A-Za-z0-9_-]{43}$/);
  expect(readFileSync(file, "utf8")).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readClientTokens(file)).toMatchObject([
    { name: "laptop", role: "client", sha256: hashOfToken(token).toString("hex") },
  ]);
});

test("a name serves once until it is revoked", () => {
  createClientToken(file, { name: "laptop", role: "client" }, ports);
  expect(() => createClientToken(file, { name: "laptop", role: "reader" }, ports)).toThrow(/already/);
  expect(revokeClientToken(file, "laptop")).toBe(true);
  expect(revokeClientToken(file, "laptop")).toBe(false);
  expect(readClientTokens(file)).toEqual([]);
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test("a missing file holds no tokens", () => {
  expect(readClientTokens(file)).toEqual([]);
});

test("a file that others may read is refused", () => {
  createClientToken(file, { name: "laptop", role: "client" }, ports);
  chmodSync(file, 0o640);
  expect(() => readClientTokens(file)).toThrow(ConfigError);
});

test("a name outside the grammar is refused and nothing is written", () => {
  expect(() => createClientToken(file, { name: "a b", role: "client" }, ports)).toThrow(/must match/);
  expect(existsSync(file)).toBe(false);
});

test("a change waits for nobody: a second one at the same time is told so", () => {
  writeFileSync(`${file}.lock`, "");
  expect(() => createClientToken(file, { name: "laptop", role: "client" }, ports)).toThrow(/another process/);
});
