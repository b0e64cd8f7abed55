import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { homePaths } from "../../src/base/home.js";
import { keepResult } from "../kit/keepResult.js";
import { expectHidden, filesBelow } from "../kit/secretsHidden.js";
import { outboxFile, type ServeProcess } from "../kit/serveProcess.js";
import { useForeignWorkers } from "../kit/useForeignWorkers.js";
import { useServe } from "../kit/useServe.js";
import { waitUntil } from "../kit/waitFor.js";

const API_KEY = "sk-test-7b1d90e4c2a84f6f9d3e5a7c1b0f2e4d";
const elsewhere = mkdtempSync(join(tmpdir(), "tk-key-"));
writeFileSync(join(elsewhere, "key"), API_KEY, { mode: 0o600 });
afterAll(() => {
  rmSync(elsewhere, { recursive: true, force: true });
});

const workers = useForeignWorkers();
const fixture = useServe();

/** Everything that a gateway and its workers leave to be read: their files, their output, and what the kernel shows of them. */
function placesOf(gateways: readonly ServeProcess[], pids: readonly number[]): readonly [string, Buffer][] {
  const [first] = gateways;
  const files = filesBelow(first?.home ?? "");
  const shown = pids.flatMap((pid) => ["cmdline", "environ"].map((what) => `/proc/${String(pid)}/${what}`));
  return [
    ...[...files, ...shown].map((file): [string, Buffer] => [file, readFileSync(file)]),
    ...gateways.map(({ pid, log }): [string, Buffer] => [
      `output of ${String(pid)}`,
      Buffer.from(log.items.join("\n")),
    ]),
  ];
}

test("OW56 OW57 OW28 no secret is in a served gateway's output, rotated logs, cache, outbox or database, nor after its death", async () => {
  const key = { model: "some", api_key_file: join(elsewhere, "key") };
  const foreign = { runtime: "command", worker: { command: workers.command }, ...key };
  const home = fixture.home({}, { agents: { foreign, echo: { runtime: "echo" } } });
  const { database, logsDir, cacheDir } = homePaths(home);
  const first = await fixture.serve(home);
  const client = first.connect();
  // A worker of our own, so that there is compiled code in the cache.
  await client.run("echo", "hello").outcome();
  await waitUntil("compiled code is kept", () => existsSync(cacheDir) && readdirSync(cacheDir).length > 0);
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
  const told = `key ${API_KEY} token ${token.toString("base64url")}`;
  await worker.print(told);
  // More than a file of the log holds, so that what was said first is in the older copy.
  for (let count = 0; count < 13; count += 1) await worker.print(`${"filler ".repeat(500)}\n`.repeat(30));
  await worker.print(told);
  await worker.print("the last line");
  const workersLog = join(logsDir, "workers.log");
  await waitUntil("the worker's output is in its log", () =>
    readFileSync(workersLog, "utf8").includes("the last line"),
  );
  expect(existsSync(`${workersLog}.1`)).toBe(true);
  expect(readFileSync(`${workersLog}.1`, "utf8")).toContain("key ");
  await client.run("foreign", "a second one").next("inputQueued");
  const second = await workers.next();
  await second.connected();
  keepResult(bootstrap, "kept");
  expect(existsSync(outboxFile(home, await run.started()))).toBe(true);
  expect(existsSync(`${database}-wal`)).toBe(true);
  expectHidden(
    { ...secrets, "second token": second.launched.token },
    placesOf([first], [first.pid, pid, second.launched.pid]),
  );
  first.signal("SIGSTOP");
  await first.kill();

  const next = await fixture.serve(home);
  const { inputId = "" } = (await run.next("inputQueued")).turn ?? {};
  expect(await next.connect().turn(inputId)).toMatchObject({ outcome: "COMPLETED", answer: "kept" });
  // What had not begun begins again, with another worker; this one is of no interest.
  const third = await workers.next();
  await third.connected();
  expect(readdirSync(homePaths(home).outboxesDir)).toEqual([]);
  expectHidden({ ...secrets, "second token": second.launched.token }, placesOf([first, next], [next.pid]));
  third.exit(1);
}, 60_000);
