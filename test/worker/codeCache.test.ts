import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WORKER_MAIN } from "./launchedWorker.js";
import { useScriptedOwner } from "./useScriptedOwner.js";

const fixture = useScriptedOwner();

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "tal-wc-"));
});
afterEach(() => {
  rmSync(cache, { recursive: true, force: true });
});

/** Starts a worker, lets it practise and ends it. */
async function practise(...flags: readonly string[]): Promise<void> {
  const { worker, attachment } = await fixture.attach({ command: [process.execPath, ...flags, WORKER_MAIN, cache] });
  for (let round = 1; round <= 10; round++) {
    attachment.send({ $case: "dryRun", value: { round, payload: Buffer.of(1), likelyRuntime: "echo" } });
    await attachment.next("dryRunDone");
  }
  worker.dispose();
  await worker.exited();
}

/** The only file of the cache. */
function onlyFile(): string {
  const names = readdirSync(cache);
  expect(names).toHaveLength(1);
  return join(cache, names[0] ?? "");
}

test("a worker that has practised keeps its code, and the next one takes it", async () => {
  await practise();
  const file = onlyFile();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const before = statSync(file, { bigint: true });
  await practise();
  expect(onlyFile()).toBe(file);
  const after = statSync(file, { bigint: true });
  expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
});

test("a cache with a changed byte in the middle harms nothing and is made again", async () => {
  await practise();
  const file = onlyFile();
  const good = readFileSync(file);
  const spoilt = Buffer.from(good);
  for (let at = 1_000; at < spoilt.length; at += 1_000) spoilt[at] = (spoilt[at] ?? 0) ^ 0xff;
  writeFileSync(file, spoilt);
  await practise();
  expect(readFileSync(file).equals(spoilt)).toBe(false);
});

test("a worker without practice keeps its code after its turn; a heap limit has a file of its own", async () => {
  const { worker, attachment } = await fixture.attach({ command: [process.execPath, WORKER_MAIN, cache] });
  attachment.bootstrap("hello");
  await attachment.next("result");
  expect(readdirSync(cache)).toEqual([]);
  attachment.send({ $case: "finish", value: {} });
  await attachment.next("finished");
  attachment.end();
  expect(await worker.exited()).toEqual({ code: 0, signal: null });
  onlyFile();
  await practise("--max-old-space-size=128");
  expect(readdirSync(cache)).toHaveLength(2);
});

test("a directory that is not there changes nothing", async () => {
  rmSync(cache, { recursive: true });
  await practise();
  expect(() => readdirSync(cache)).toThrow();
});
