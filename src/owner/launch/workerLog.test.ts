import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import { afterEach, beforeEach, expect, test } from "vitest";

import { silentLogger } from "../../base/logger.js";
import { SecretRegistry } from "../../base/secretRegistry.js";
import { WorkerLog } from "./workerLog.js";

let folder: string;
let path: string;
let secrets: SecretRegistry;
let log: WorkerLog;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tal-log-"));
  path = join(folder, "workers.log");
  secrets = new SecretRegistry();
  log = new WorkerLog(path, secrets, silentLogger());
});
afterEach(() => {
  log.close();
  rmSync(folder, { recursive: true, force: true });
});

async function write(...chunks: readonly string[]): Promise<void> {
  const output = new PassThrough();
  log.drain(output, "lau_1");
  for (const chunk of chunks) output.write(chunk);
  output.end();
  await finished(output);
}

test("OW56 lines are kept in a private file with their launch, the last one without its end too", async () => {
  await write("one\ntwo", " and more\nthree");
  expect(readFileSync(path, "utf8")).toBe("lau_1 one\nlau_1 two and more\nlau_1 three\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("OW57 OW-R42 a secret is hidden, also where it comes in pieces", async () => {
  secrets.add("correct-horse-battery-staple");
  await write("token correct-horse-", "battery-staple end\n");
  expect(readFileSync(path, "utf8")).not.toContain("horse");
});

test("OW57 a long line is cut and marked, and one without an end is not gathered for ever", async () => {
  await write(`${"x".repeat(5_000)}\nshort\n`);
  const [long = "", short] = readFileSync(path, "utf8").split("\n");
  expect(long).toHaveLength("lau_1 ".length + 4_096);
  expect(long.endsWith(" [cut]")).toBe(true);
  expect(short).toBe("lau_1 short");
  await write("y".repeat(200_000));
  expect(statSync(path).size).toBeLessThan(100_000);
});

test("OW57 the file never grows over its bound, one older copy is kept, and the last line is there", async () => {
  const line = `${"z".repeat(1_000)}\n`;
  for (let count = 0; count < 3_500; count += 100) await write(line.repeat(100));
  await write("the very last\n");
  expect(statSync(path).size).toBeLessThanOrEqual(1_048_576);
  expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(1_048_576);
  expect(existsSync(`${path}.2`)).toBe(false);
  expect(readFileSync(path, "utf8").endsWith("lau_1 the very last\n")).toBe(true);
});

test("a log that cannot be written does not hold a worker up", async () => {
  rmSync(folder, { recursive: true });
  await write("lost\n");
  expect(existsSync(path)).toBe(false);
});
