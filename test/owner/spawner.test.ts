import { rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { createDeferred } from "../../src/base/deferred.js";
import { ensureHome } from "../../src/base/ensureHome.js";
import { homePaths } from "../../src/base/home.js";
import { isAlive, readProcess, systemProcessTable } from "../../src/base/processTable.js";
import { systemRandom } from "../../src/base/random.js";
import { StopCause } from "../../src/gen/talaria/owner/v1/owner_service.js";
import { type Spawner, systemSpawner } from "../../src/owner/launch/spawner.js";
import type { Owner } from "../../src/owner/owner.js";
import { readTurn } from "../../src/owner/records/readTurn.js";
import { openStore, type Store } from "../../src/store/store.js";
import { writeHome } from "../kit/homeFiles.js";
import { describeTurn, type Ended } from "../kit/turnClient.js";
import { waitFor, waitUntil } from "../kit/waitFor.js";
import { bareOwner, queueInput } from "./bareOwner.js";

let home: string;
let store: Store;
let owner: Owner | undefined;
const trouble: unknown[] = [];
beforeEach(async () => {
  home = writeHome();
  ensureHome(homePaths(home));
  store = await openStore(homePaths(home));
  trouble.length = 0;
});
afterEach(async () => {
  await owner?.close();
  await store.close();
  rmSync(home, { recursive: true, force: true });
});

/** An owner whose processes come from a spawner of the test's; nobody can attach to it. */
function ownerWith(spawner: Spawner): Owner {
  owner = bareOwner({
    home,
    store,
    clock: systemClock,
    random: systemRandom,
    table: systemProcessTable,
    spawner,
    maxWorkers: 4,
    program: { command: ["sleep", "60"], environment: process.env },
    trouble: (error) => trouble.push(error),
  });
  owner.start();
  return owner;
}

/** Queues an input and waits until its turn has been claimed: its process must not be there at once. */
async function begin(of: Owner): Promise<{ readonly executionId: string; readonly inputId: string }> {
  const { inputId } = await queueInput(of, "key");
  const executionId = await waitFor("the turn is claimed", () => {
    const [running] = of.turns();
    return running === undefined ? { state: "nothing runs" } : { found: running.fence.executionId };
  });
  return { executionId, inputId };
}

const ended = (inputId: string): Promise<Ended> =>
  waitFor("the turn has ended", () => {
    const turn = readTurn(store.reader, inputId);
    return turn?.endedAt === undefined ? { state: turn?.phase } : { found: describeTurn(turn) };
  });

test("OW52 F13 a Stop before the process is there is kept at once; the process that comes late is ended unheard", async () => {
  const asked = createDeferred<void>();
  const go = createDeferred<void>();
  const pids: number[] = [];
  const of = ownerWith(async (request) => {
    asked.resolve();
    await go.promise;
    const spawned = await systemSpawner(0)(request);
    pids.push(spawned.pid);
    return spawned;
  });
  const { executionId, inputId } = await begin(of);
  await asked.promise;
  expect(of.turn(executionId)?.stop(StopCause.STOP_CAUSE_CLIENT)).toMatchObject({ already: false });
  expect(await ended(inputId)).toMatchObject({ outcome: "INTERRUPTED", reason: "TURN_STOPPED" });
  expect(of.turn(executionId)?.stop(StopCause.STOP_CAUSE_CLIENT)).toBeUndefined();
  // The session stays taken until the late process is proved gone.
  expect(store.reader.all("SELECT 1 FROM sessions WHERE running_execution_id IS NOT NULL")).toHaveLength(1);
  go.resolve();
  await waitUntil("the session is free", () => of.turns().length === 0);
  expect(pids).toHaveLength(1);
  expect(isAlive(readProcess(pids[0] ?? 0))).toBe(false);
  expect(store.reader.all("SELECT 1 FROM launches WHERE gone_at IS NULL")).toEqual([]);
  expect(trouble).toEqual([]);
});

test("closing ends a turn whose process is only starting, and leaves nothing of it", async () => {
  const asked = createDeferred<void>();
  const go = createDeferred<void>();
  const pids: number[] = [];
  const of = ownerWith(async (request) => {
    asked.resolve();
    await go.promise;
    const spawned = await systemSpawner(0)(request);
    pids.push(spawned.pid);
    return spawned;
  });
  const { inputId } = await begin(of);
  await asked.promise;
  const closed = of.close();
  go.resolve();
  await closed;
  expect(isAlive(readProcess(pids[0] ?? 0))).toBe(false);
  expect(await ended(inputId)).toMatchObject({ outcome: "INTERRUPTED", reason: "DRAINING" });
  expect(of.turns()).toEqual([]);
});

test("F1 a process that cannot be started fails its turn and is told to operators", async () => {
  let calls = 0;
  const of = ownerWith(() => {
    calls += 1;
    return Promise.reject(new Error("no more processes"));
  });
  const { inputId } = await queueInput(of, "key");
  expect(await ended(inputId)).toMatchObject({ outcome: "FAILED", reason: "WORKER_SPAWN_FAILED" });
  expect(calls).toBe(1);
  expect(trouble).toHaveLength(1);
});
