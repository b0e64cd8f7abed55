import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";

import { silentLogger } from "../../base/logger.js";
import { SecretRegistry } from "../../base/secretRegistry.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { WorkerLog } from "./workerLog.js";

let folder: string;
let path: string;
let secrets: SecretRegistry;
let clock: FakeClock;
let log: WorkerLog;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tal-log-"));
  path = join(folder, "workers.log");
  secrets = new SecretRegistry();
  clock = new FakeClock();
  log = new WorkerLog(path, secrets, silentLogger(), clock);
});
afterEach(() => {
  log.close();
  rmSync(folder, { recursive: true, force: true });
  expect(clock.pending).toBe(0);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function write(...chunks: readonly string[]): Promise<void> {
  const output = new PassThrough();
  const drained = log.drain(output, "lau_1");
  for (const chunk of chunks) output.write(chunk);
  output.end();
  await drained;
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

test("OW57 OW-R42 a secret that stands on two lines is hidden, though they come one after the other", async () => {
  secrets.add("correct-horse-battery-staple");
  await write("token correct-horse-\n", "battery-staple end\n");
  await write("-----BEGIN PRIVATE KEY-----\n", "MIIEvQIBADANBgkq\n", "-----END PRIVATE KEY-----\n", "and on\n");
  expect(readFileSync(path, "utf8")).toBe("lau_1 token [redacted] end\nlau_1 [redacted]\nlau_1 and on\n");
});

test.each([8_150, 8_192 + 1_000, 30_000])(
  "OW57 a secret %i characters into what is printed without a pause is hidden whole",
  async (before) => {
    secrets.add("correct-horse-battery-staple");
    const text = `${"a line of words\n".repeat(before / 16)}correct-horse-\nbattery-staple\n${"more\n".repeat(3_000)}`;
    for (const pieces of [1_000, 8_192, text.length]) {
      await write(...(text.match(new RegExp(`[^]{1,${String(pieces)}}`, "g")) ?? []));
      const written = readFileSync(path, "utf8");
      expect(written).not.toMatch(/horse|battery/);
      expect(written.match(/more/g)).toHaveLength(3_000);
      rmSync(path);
      log.close();
      log = new WorkerLog(path, secrets, silentLogger(), clock);
    }
  },
);

test("whole lines are written once nothing follows for a moment, a line without its end when it has come", async () => {
  const output = new PassThrough();
  const drained = log.drain(output, "lau_1");
  output.write("one\nand a secret: correct-");
  await turn();
  expect(readFileSync(path, "utf8")).toBe("");
  await clock.advanceAsync(100);
  expect(readFileSync(path, "utf8")).toBe("lau_1 one\n");
  secrets.add("correct-horse-battery-staple");
  output.end("horse-battery-staple");
  await drained;
  expect(readFileSync(path, "utf8")).toBe("lau_1 one\nlau_1 and a secret: [redacted]\n");
});

test("what has come is written when the log is closed, and nothing after it", async () => {
  const output = new PassThrough();
  const drained = log.drain(output, "lau_1");
  output.write("last");
  await turn();
  log.close();
  output.end("too late\n");
  await drained;
  expect(readFileSync(path, "utf8")).toBe("lau_1 last\n");
});

test("a worker that prints without end is read at the pace at which its lines can be written, and is not written off", async () => {
  let spent = 0;
  // Whatever is done between two looks at this clock has taken 20 ms.
  const busy = { now: () => clock.now(), monotonic: () => clock.monotonic() + (spent += 20) };
  const paced = new WorkerLog(path, secrets, silentLogger(), { ...busy, after: (ms, run) => clock.after(ms, run) });
  let printed = 0;
  const output = new Readable({
    highWaterMark: 65_536,
    read() {
      printed += 1;
      this.push(printed < 40 ? "y\n".repeat(8_192) : "the very last\n");
      if (printed === 40) this.push(null);
    },
  });
  const read = { whole: false };
  void paced.drain(output, "lau_1").then(() => (read.whole = true));
  for (let count = 0; count < 100; count += 1) await turn();
  expect(printed).toBeLessThan(20);
  expect(clock.pending).toBe(1);
  while (!read.whole) await clock.advanceAsync(1_000);
  expect(readFileSync(path, "utf8").endsWith("lau_1 the very last\n")).toBe(true);
  paced.close();
});

test("OW57 a long line is cut and marked, and one without an end is not gathered for ever", async () => {
  await write(`${"x".repeat(5_000)}\nshort\n`);
  const [long = "", short] = readFileSync(path, "utf8").split("\n");
  expect(long).toHaveLength("lau_1 ".length + 4_096);
  expect(long.endsWith(" [cut]")).toBe(true);
  expect(short).toBe("lau_1 short");
  await write(`${"y".repeat(200_000)} and on\nafter it\n`);
  const [, , endless = "", after] = readFileSync(path, "utf8").split("\n");
  expect(endless).toHaveLength("lau_1 ".length + 4_096);
  expect(endless.endsWith(" [cut]")).toBe(true);
  expect(after).toBe("lau_1 after it");
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
