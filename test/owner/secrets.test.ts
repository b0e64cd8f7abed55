import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { expectHidden, filesBelow } from "../kit/secretsHidden.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitUntil } from "../kit/waitFor.js";

const API_KEY = "sk-test-4f9a1c7e2b8d4f9a1c7e2b8d4f9a1c7e";
const elsewhere = mkdtempSync(join(tmpdir(), "tk-key-"));
writeFileSync(join(elsewhere, "key"), API_KEY, { mode: 0o600 });
afterAll(() => {
  rmSync(elsewhere, { recursive: true, force: true });
});

const workers = useForeignWorkers();
const foreign = { runtime: "command", worker: { command: workers.command, env: { GIVEN: "to the agent" } } };
const gateway = useTestGateway({
  agents: { foreign: { ...foreign, model: "some", api_key_file: join(elsewhere, "key") }, keyless: foreign },
});

test("OW56 OW57 OW-R41 OW-R43 no secret of a turn is in argv, the environment, a log or a file", async () => {
  const { client, home, log } = gateway();
  const run = client.run("foreign", "hello");
  const worker = await workers.next();
  const bootstrap = await worker.running();
  expect(bootstrap.credentials.map(({ secret }) => secret)).toEqual([API_KEY]);
  const { token, pid } = worker.launched;
  const secrets = {
    token,
    "assignment secret": Buffer.from(bootstrap.assignmentSecret),
    "outbox key": Buffer.from(bootstrap.outbox?.key ?? Buffer.alloc(1)),
    "API key": Buffer.from(API_KEY),
  };
  for (const secret of Object.values(secrets)) expect(secret.length).toBeGreaterThanOrEqual(32);
  await worker.print(`token ${token.toString("base64url")}`);
  await worker.print(`key ${API_KEY} and more`);
  await worker.print("-----BEGIN PRIVATE KEY-----\nAAAABBBBCCCCDDDD\n-----END PRIVATE KEY-----");
  await worker.print("last line");
  const workerLog = gateway().context.paths.logsDir + "/workers.log";
  await waitUntil("the worker's output is in its log", () => readFileSync(workerLog, "utf8").includes("last line"));
  expect(statSync(workerLog).mode & 0o777).toBe(0o600);
  expect(readFileSync(workerLog, "utf8")).not.toContain("AAAABBBBCCCCDDDD");

  const look = (): void => {
    expectHidden(secrets, [
      ["argv", readFileSync(`/proc/${String(pid)}/cmdline`)],
      ["environ", readFileSync(`/proc/${String(pid)}/environ`)],
      ["the gateway's log", Buffer.from(log.join(""))],
      ...filesBelow(home).map((file): [string, Buffer] => [file, readFileSync(file)]),
    ]);
  };
  look();
  const environ = readFileSync(`/proc/${String(pid)}/environ`, "utf8").split("\0");
  expect(environ).toContain("GIVEN=to the agent");
  expect(environ.filter((line) => /^(npm_|VITEST|NODE_)/.test(line))).toEqual([]);
  worker.result();
  await worker.next("finish");
  look();
  await run.outcome();
});

test("OW58 OW59 an agent without a key gets none of another's", async () => {
  const run = gateway().client.run("keyless", "hello");
  const worker = await workers.next();
  const bootstrap = await worker.running();
  expect(bootstrap.credentials).toEqual([]);
  worker.result();
  await run.outcome();
});

test("OW28 an execution's outbox is private, directly in its folder, and gone once the turn is settled", async () => {
  const run = gateway().client.run("keyless", "hello");
  const worker = await workers.next();
  const { outbox, executionId } = await worker.running();
  const { outboxesDir } = gateway().context.paths;
  expect(outbox?.directory).toBe(join(outboxesDir, executionId));
  expect(statSync(outbox?.directory ?? "").mode & 0o777).toBe(0o700);
  worker.result();
  await worker.leave();
  await run.outcome();
  await waitUntil("the outbox is gone", () => !readdirSync(outboxesDir).includes(executionId));
});
