import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { expectHidden } from "../kit/secretsHidden.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const KEYS = {
  one: "sk-test-5d2e81f0a9c74b36e1f8d7c6b5a49382",
  two: "sk-test-c81b3f6a72d9405e8c7b6a5f4e3d2c1b",
} as const;
const elsewhere = mkdtempSync(join(tmpdir(), "tk-key-"));
for (const [name, key] of Object.entries(KEYS)) writeFileSync(join(elsewhere, name), key, { mode: 0o600 });
afterAll(() => {
  rmSync(elsewhere, { recursive: true, force: true });
});

const workers = useForeignWorkers();
const agent = (name: keyof typeof KEYS): Readonly<Record<string, unknown>> => ({
  runtime: "command",
  model: "some",
  worker: { command: workers.command, env: { OF_AGENT: name } },
  api_key_file: join(elsewhere, name),
});
const gateway = useTestGateway({ agents: { one: agent("one"), two: agent("two") } });

const logFile = (): string => join(gateway().context.paths.logsDir, "workers.log");
const begin = async (name: string) => {
  const run = gateway().client.run(name, "hello");
  const worker = await workers.next();
  return { run, worker, bootstrap: await worker.running() };
};

test("OW-R41 what a worker prints is logged for its owner alone, without its key, its token or a PEM block", async () => {
  const { run, worker } = await begin("one");
  const token = worker.launched.token.toString("base64url");
  await worker.print(
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx7Yb\nQmFzZTY0TGluZXNPZktleQ\n-----END RSA PRIVATE KEY-----",
  );
  await worker.print(`launched with ${token} and ${KEYS.one}`);
  await worker.print("a plain line");
  await waitUntil("the output is logged", () => readFileSync(logFile(), "utf8").includes("a plain line"));
  const text = readFileSync(logFile());
  expect(statSync(logFile()).mode & 0o777).toBe(0o600);
  expectHidden(
    {
      token: worker.launched.token,
      key: Buffer.from(KEYS.one),
      "the block's first line": Buffer.from("MIIEpAIBAAKCAQEAx7Yb"),
      "its second": Buffer.from("QmFzZTY0TGluZXNPZktleQ"),
    },
    [["workers.log", text]],
  );
  expect(text.toString()).toContain("launched with");
  worker.result();
  await worker.leave();
  await run.outcome();
});

const ESCAPED: readonly [string, string, string][] = [
  ["a value of a name that ends in KEY", "SOME_SERVICE_KEY=qwertyuiop1234567890", "qwertyuiop1234567890"],
  ["a value of a name that ends in PASS", "DB_PASS=hunter2hunter2hunter2", "hunter2hunter2hunter2"],
  ["a key cut by a carriage return", `${KEYS.two.slice(0, 20)}\r${KEYS.two.slice(20)}`, KEYS.two.slice(20)],
  ["a key cut by a colour", `${KEYS.two.slice(0, 20)}\u001b[31m${KEYS.two.slice(20)}`, KEYS.two.slice(20)],
  ["a key cut by a zero-width space", `${KEYS.two.slice(0, 20)}\u200b${KEYS.two.slice(20)}`, KEYS.two.slice(20)],
];
test("OW-R42 a secret that comes under a telling name, or in pieces, is hidden", async () => {
  const { run, worker } = await begin("two");
  for (const [what, printed] of ESCAPED) await worker.print(`${what}: ${printed}.`);
  await worker.print("the end of it");
  await waitUntil("the output is logged", () => readFileSync(logFile(), "utf8").includes("the end of it"));
  const text = readFileSync(logFile(), "utf8");
  for (const [what, , secret] of ESCAPED) {
    expect(text).toContain(`${what}:`);
    expect(text, what).not.toContain(secret);
  }
  worker.result();
  await worker.leave();
  await run.outcome();
});

test("OW-R43 two agents' workers have each their own key and nothing of the other's", async () => {
  const [one, two] = [await begin("one"), await begin("two")];
  expect(one.bootstrap.credentials.map(({ secret }) => secret)).toEqual([KEYS.one]);
  expect(two.bootstrap.credentials.map(({ secret }) => secret)).toEqual([KEYS.two]);
  for (const [{ worker }, own, other] of [
    [one, "one", "two"],
    [two, "two", "one"],
  ] as const) {
    const environment = readFileSync(`/proc/${String(worker.launched.pid)}/environ`);
    const lines = environment.toString().split("\0");
    expect(lines).toContain(`OF_AGENT=${own}`);
    expect(lines).not.toContain(`OF_AGENT=${other}`);
    expectHidden({ "the other's key": Buffer.from(KEYS[other]), "its own key": Buffer.from(KEYS[own]) }, [
      [own, environment],
    ]);
  }
  for (const { run, worker } of [one, two]) {
    worker.result();
    await worker.leave();
    await run.outcome();
  }
});
