import { expect, test } from "vitest";

import { silentLogger } from "../../base/logger.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import type { DiskUse } from "../../base/diskUse.js";
import { measureDisk, shareInUse } from "../../base/diskUse.js";
import { DISK_LOOK_MS, watchStorage } from "./storageGuard.js";

const LOG = silentLogger();

function use(percent: number): DiskUse {
  return { usedBytes: percent * 1_000, freeBytes: (100 - percent) * 1_000 };
}

async function guardOn(disk: { use: DiskUse | undefined }) {
  const clock = new FakeClock();
  const measure = (): Promise<DiskUse> =>
    disk.use === undefined ? Promise.reject(new Error("gone")) : Promise.resolve(disk.use);
  return { clock, guard: await watchStorage({ path: "/home", measure, clock, log: LOG }) };
}

const QUEUED = { kind: "queued" };

test.each([
  [94.9, "turn.admit", QUEUED, false],
  [95, "turn.admit", QUEUED, true],
  [99, "turn.admit", { kind: "replayed" }, false],
  [99, "delivery.admit", { kind: "accepted" }, true],
  [99, "delivery.admit", { kind: "replayed" }, false],
  [99, "delivery.admit", { kind: "refused" }, false],
  [99, "delivery.admit_batch", [{ kind: "replayed" }, { kind: "accepted" }], true],
  [99, "delivery.admit_batch", [{ kind: "replayed" }, { kind: "heldBack" }], false],
  [95, "session.create", { kind: "done", replayed: false }, true],
  [99, "session.create", { kind: "done", replayed: true }, false],
  [95, "attachment.put", { kind: "stored" }, true],
  [99, "attachment.put", { kind: "quota" }, false],
  [95, "delivery.redrive", { kind: "redriven", effects: { changed: ["d"] } }, true],
  [99, "delivery.redrive", { kind: "redriven", effects: { changed: [] } }, false],
  [99, "delivery.redrive", { kind: "missing" }, false],
  [99, "child.dispatch", { kind: "dispatched" }, false],
  [99, "execution.result", { kind: "committed" }, false],
])("at %d %% in use, %s with %j: refused %s", async (percent, command, result, refused) => {
  const { guard } = await guardOn({ use: use(percent) });
  const vet = (): void => {
    guard.vet(command, result);
  };
  if (refused) expect(vet).toThrow(expect.objectContaining({ reason: "STORAGE_FULL" }));
  else expect(vet).not.toThrow();
});

test("what is about to be written counts where it is asked for", async () => {
  const { guard } = await guardOn({ use: use(90) });
  expect(guard.problem()).toBeUndefined();
  expect(guard.problem(4_999)).toBeUndefined();
  expect(guard.problem(5_000)?.message).toContain("would, with 5000 bytes more, be 95 % full");
  expect(guard.problem(1_000_000)?.reason).toBe("STORAGE_FULL");
  guard.stop();
});

test("it looks again, says what is wrong while it is, and stops", async () => {
  const disk: { use: DiskUse | undefined } = { use: use(50) };
  const { clock, guard } = await guardOn(disk);
  expect(guard.problem()).toBeUndefined();
  disk.use = use(97);
  await clock.advanceAsync(DISK_LOOK_MS);
  expect(guard.problem()?.message).toContain("97 % full");
  disk.use = use(60);
  await clock.advanceAsync(DISK_LOOK_MS);
  expect(guard.problem()).toBeUndefined();
  guard.stop();
  expect(clock.pending).toBe(0);
});

test("a disk that cannot be measured refuses nothing", async () => {
  const disk: { use: DiskUse | undefined } = { use: use(99) };
  const { clock, guard } = await guardOn(disk);
  disk.use = undefined;
  await clock.advanceAsync(DISK_LOOK_MS);
  expect(guard.problem()).toBeUndefined();
  guard.stop();
});

test("the system says how full a disk is", async () => {
  const share = shareInUse(await measureDisk("."));
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThanOrEqual(1);
  expect(shareInUse({ usedBytes: 0, freeBytes: 0 })).toBe(0);
});
