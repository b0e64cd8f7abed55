import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { systemRandom } from "../../src/base/random.js";
import { SecretRegistry } from "../../src/base/secretRegistry.js";
import type { Lifeline } from "../../src/worker/lifeline.js";
import { runtimeLoader } from "../../src/worker/runtimes/registry.js";
import { runWorker } from "../../src/worker/worker.js";
import { createWorkerLog } from "../../src/worker/workerLog.js";

const lifeline: Lifeline = {
  readToken: () => Promise.resolve(""),
  watch: () => undefined,
  ownerGone: new AbortController().signal,
  setGrace: () => undefined,
  orphaned: () => undefined,
};

test("an owner that accepts and never answers is given up after the hello budget, with a line that says so", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tal-mute-"));
  const socketPath = join(directory, "o.sock");
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const secrets = new SecretRegistry();
  const lines: string[] = [];
  const log = createWorkerLog(secrets, (line) => lines.push(line));
  const build = { name: "unreachable", version: "1", runtime: "test" };
  const program = { build, runtimes: (name: string) => runtimeLoader(name) };
  const options = { socketPath, lifeline, secrets, log, clock: systemClock, random: systemRandom, program };
  try {
    expect(await runWorker({ ...options, helloMs: 200 })).toBe(74);
    expect(sockets.length).toBeGreaterThan(0);
    expect(lines.join("")).toContain("Nothing answered at unix:");
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  }
});

test("a worker whose owner is gone before it could connect leaves at once", async () => {
  const gone = AbortSignal.abort(new Error("the launch pipe has ended"));
  const secrets = new SecretRegistry();
  const log = createWorkerLog(secrets, () => undefined);
  const program = { build: { name: "orphan", version: "1", runtime: "test" }, runtimes: runtimeLoader };
  const parts = { socketPath: join(tmpdir(), "nobody.sock"), secrets, log, clock: systemClock, random: systemRandom };
  const began = performance.now();
  expect(await runWorker({ ...parts, lifeline: { ...lifeline, ownerGone: gone }, program })).toBe(74);
  expect(performance.now() - began).toBeLessThan(5_000);
});
