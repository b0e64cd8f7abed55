import { beforeEach, expect, test } from "vitest";

import { createDeferred } from "../../base/deferred.js";
import { silentLogger } from "../../base/logger.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { seededRandom } from "../../base/testing/seededRandom.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { FrameHandler, OwnerFrame, WorkerLink } from "../attach/workerLink.js";
import type { Launch } from "../launch/launch.js";
import type { ProcessExit, SpawnRequest } from "../launch/spawner.js";
import { WorkerPool } from "./workerPool.js";
import type { WorkerSpec } from "./workerSpec.js";

const IDLE_MS = 60_000;

/** A launched worker that practises as it is told to. */
class FakeWorker {
  readonly sent: OwnerFrame[] = [];
  readonly closed = createDeferred<RpcError | undefined>();
  readonly exited = createDeferred<ProcessExit>();
  readonly attached = createDeferred<WorkerLink>();
  ended = 0;
  closeReason: number | undefined;
  /** Whether it answers practice rounds. */
  practises = true;
  exit: ProcessExit | undefined;
  readonly request: SpawnRequest;
  readonly launch: Launch;
  readonly link: WorkerLink;
  #handler: FrameHandler | undefined;

  constructor(request: SpawnRequest) {
    this.request = request;
    this.attached.promise.catch(() => undefined);
    const link = {
      closed: this.closed.promise,
      handle: (handler: FrameHandler) => (this.#handler = handler),
      send: (frame: OwnerFrame) => {
        this.sent.push(frame);
        if (frame.$case === "dryRun" && this.practises) {
          const { round, payload } = frame.value;
          queueMicrotask(() => void this.#handler?.({ $case: "dryRunDone", value: { round, payload } }));
        }
      },
      close: (reason: number) => (this.closeReason = reason),
    };
    this.link = link as unknown as WorkerLink;
    const launch = {
      id: "lau_1",
      attached: this.attached.promise,
      exited: this.exited.promise,
      group: {
        kill: () => {
          this.die();
          return Promise.resolve(true);
        },
      },
    };
    this.launch = Object.defineProperty(launch, "exit", { get: () => this.exit }) as unknown as Launch;
  }

  die(): void {
    this.exit = { code: 1, signal: null };
    this.exited.resolve(this.exit);
    this.attached.reject(new RpcError("WORKER_EXITED"));
    this.closed.resolve(undefined);
  }
}

let clock: FakeClock;
let workers: FakeWorker[];
let troubles: unknown[];
let attaches: boolean;
let spawns: boolean;
beforeEach(() => {
  clock = new FakeClock();
  workers = [];
  troubles = [];
  attaches = true;
  spawns = true;
});

function makePool(size: number): WorkerPool {
  return new WorkerPool({
    launcher: {
      launch: (request) => {
        if (!spawns) return Promise.reject(new RpcError("WORKER_SPAWN_FAILED"));
        const worker = new FakeWorker(request);
        workers.push(worker);
        if (attaches) worker.attached.resolve(worker.link);
        return Promise.resolve(worker.launch);
      },
      end: (launch) => {
        const worker = workers.find((one) => one.launch === launch);
        if (worker !== undefined) worker.ended += 1;
        worker?.die();
        return Promise.resolve();
      },
    },
    clock,
    random: seededRandom(),
    log: silentLogger(),
    size,
    idleMs: IDLE_MS,
    onTrouble: (error) => troubles.push(error),
  });
}

function spec(key: string, poolable = true): WorkerSpec {
  return { key, poolable, runtime: `${key} runtime`, request: { command: [key], env: {}, directory: "/" } };
}

/** Lets everything that waits for nothing but promises happen. */
async function settle(): Promise<void> {
  await clock.advanceAsync(0);
}

function programs(): readonly string[] {
  return workers
    .filter(({ ended, exit }) => ended === 0 && exit === undefined)
    .map(({ request }) => request.command[0]);
}

test("a worker is told of the runtime that its kind had last, and of nothing else of the agent", async () => {
  const pool = makePool(1);
  pool.refill(spec("a"));
  await settle();
  const told = workers[0]?.sent.map((frame) => (frame.$case === "dryRun" ? Object.keys(frame.value) : frame.$case));
  expect(new Set(told?.map(String))).toEqual(new Set(["round,payload,likelyRuntime"]));
  expect(workers[0]?.sent[0]).toMatchObject({ value: { likelyRuntime: "a runtime" } });
});

test("a worker is made ready by practice and taken once", async () => {
  const pool = makePool(1);
  pool.refill(spec("a"));
  await settle();
  expect(pool.idle).toBe(1);
  const practice = workers[0]?.sent.map(({ $case }) => $case) ?? [];
  expect(practice.length).toBeGreaterThanOrEqual(20);
  expect(new Set(practice)).toEqual(new Set(["dryRun"]));
  expect(await pool.take(spec("a"))).toEqual({ launch: workers[0]?.launch, pooled: true });
  expect(await pool.take(spec("a"))).toEqual({ launch: workers[1]?.launch, pooled: false });
  expect(pool.idle).toBe(0);
  await clock.advanceAsync(150);
  expect(clock.pending).toBe(1);
  expect(pool.idle).toBe(1);
});

test("a turn that has just got its worker is spared the start of the next one", async () => {
  const pool = makePool(1);
  await pool.take(spec("a"));
  pool.refill(spec("a"));
  await clock.advanceAsync(149);
  expect(workers).toHaveLength(1);
  await clock.advanceAsync(1);
  expect(pool.idle).toBe(1);
});

test("another kind is not handed out, and its use puts it in the other's place", async () => {
  const pool = makePool(1);
  pool.refill(spec("a"));
  await settle();
  expect((await pool.take(spec("b"))).pooled).toBe(false);
  pool.refill(spec("b"));
  await clock.advanceAsync(150);
  expect(workers[0]).toMatchObject({ ended: 1 });
  expect(workers[0]?.closeReason).toBeDefined();
  expect((await pool.take(spec("a"))).pooled).toBe(false);
  expect((await pool.take(spec("b"))).pooled).toBe(true);
});

test("a pool of two follows its last two uses, also those that come while one is on its way", async () => {
  const pool = makePool(2);
  for (const key of ["a", "b", "b", "c"]) pool.refill(spec(key));
  await settle();
  expect(pool.idle).toBe(2);
  expect([...programs()].sort()).toEqual(["b", "c"]);
});

test("size 0 and foreign commands start nothing ahead of time", async () => {
  const off = makePool(0);
  off.refill(spec("a"));
  const pool = makePool(1);
  pool.refill(spec("foreign", false));
  await settle();
  expect(workers).toEqual([]);
  expect((await off.take(spec("a"))).pooled).toBe(false);
  expect((await pool.take(spec("foreign", false))).pooled).toBe(false);
  expect(clock.pending).toBe(0);
});

test("a worker that waits past the idle bound is retired and another takes its place", async () => {
  const pool = makePool(1);
  pool.refill(spec("a"));
  await settle();
  await clock.advanceAsync(IDLE_MS - 1);
  expect(workers).toHaveLength(1);
  await clock.advanceAsync(1);
  await settle();
  expect(workers[0]?.ended).toBe(1);
  expect(pool.idle).toBe(1);
  expect((await pool.take(spec("a"))).launch).toBe(workers[1]?.launch);
  expect(troubles).toEqual([]);
});

test.each(["process", "stream"])(
  "a waiting worker whose %s ends is cleaned up, reported and replaced later",
  async (what) => {
    const pool = makePool(1);
    pool.refill(spec("a"));
    await settle();
    if (what === "process") workers[0]?.die();
    else workers[0]?.closed.resolve(new RpcError("WORKER_LOST"));
    await settle();
    expect(pool.idle).toBe(0);
    expect(workers[0]?.ended).toBe(1);
    expect(troubles).toHaveLength(1);
    expect(workers).toHaveLength(1);
    await clock.advanceAsync(1_000);
    expect(pool.idle).toBe(1);
    expect(workers).toHaveLength(2);
  },
);

test("a worker whose end is known but not yet handled is not handed out, and its record is closed", async () => {
  const pool = makePool(1);
  pool.refill(spec("a"));
  await settle();
  workers[0]?.die();
  const taken = await pool.take(spec("a"));
  expect(taken).toEqual({ launch: workers[1]?.launch, pooled: false });
  await settle();
  expect(workers[0]?.ended).toBe(1);
});

test("failures are reported and backed off twice as long each time, with jitter, until one succeeds", async () => {
  const pool = makePool(1);
  spawns = false;
  pool.refill(spec("a"));
  await settle();
  const waits: number[] = [];
  for (let failure = 1; failure <= 5; failure++) {
    expect(troubles).toHaveLength(failure);
    pool.refill(spec("a"));
    await settle();
    expect(troubles).toHaveLength(failure);
    const began = clock.monotonic();
    const longest = 1_000 * 2 ** (failure - 1);
    await clock.advanceAsync(longest / 2 - 1);
    expect(troubles).toHaveLength(failure);
    while (troubles.length === failure && clock.monotonic() - began < longest) await clock.advanceAsync(10);
    waits.push((clock.monotonic() - began) / longest);
    if (failure === 4) spawns = true;
    if (failure === 5) break;
    expect(troubles).toHaveLength(failure + 1);
  }
  expect(pool.idle).toBe(1);
  expect(new Set(waits).size).toBeGreaterThan(1);
  for (const wait of waits) expect(wait).toBeLessThanOrEqual(1.01);
});

test("a worker that does not attach, or stops practising, is ended and counts as a failure", async () => {
  const pool = makePool(1);
  attaches = false;
  pool.refill(spec("a"));
  await settle();
  workers[0]?.attached.reject(new RpcError("WORKER_HELLO_TIMEOUT"));
  await settle();
  expect(workers[0]?.ended).toBe(1);
  expect(troubles).toMatchObject([{ reason: "WORKER_HELLO_TIMEOUT" }]);
  await clock.advanceAsync(1_000);
  const second = workers[1];
  if (second === undefined) throw new Error("no second worker was started");
  second.practises = false;
  second.attached.resolve(second.link);
  await clock.advanceAsync(30_000);
  expect(second.ended).toBe(1);
  expect(troubles).toMatchObject([{ reason: "WORKER_HELLO_TIMEOUT" }, { reason: "DEADLINE_EXCEEDED" }]);
});

test("closing retires those that wait and the one on its way, and starts no more", async () => {
  const pool = makePool(2);
  pool.refill(spec("a"));
  await settle();
  attaches = false;
  pool.refill(spec("a"));
  await settle();
  expect(workers).toHaveLength(2);
  await pool.close();
  expect(workers.map(({ ended }) => ended)).toEqual([1, 1]);
  pool.refill(spec("a"));
  await clock.advanceAsync(10 * IDLE_MS);
  expect(workers).toHaveLength(2);
  expect(pool.idle).toBe(0);
  expect(clock.pending).toBe(0);
  expect(troubles).toEqual([]);
});
