import { expect, test } from "vitest";

import { createLogger } from "../../base/logger.js";
import { StorageError } from "../../base/storageError.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { persistently, RETRY_MAX_MS, RETRY_MIN_MS } from "./persistently.js";

/** A log whose lines are kept. */
function capture() {
  const lines: string[] = [];
  const log = createLogger({ level: "info", destination: { write: (line: string) => void lines.push(line) } });
  return { lines, log };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a change is tried again with growing waits up to a bound, and told of once", async () => {
  const clock = new FakeClock();
  const { lines, log } = capture();
  const tried: number[] = [];
  let room = false;
  const kept = persistently(clock, log, () => {
    tried.push(clock.now());
    return room ? Promise.resolve("kept") : Promise.reject(new StorageError("full", "no room"));
  });
  await settled();
  for (let second = 0; second < 120; second += 1) {
    clock.advance(RETRY_MIN_MS);
    await settled();
  }
  const waits = tried.slice(1).map((at, index) => at - (tried[index] ?? 0));
  expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, RETRY_MAX_MS]);
  expect(new Set(waits.slice(3))).toEqual(new Set([RETRY_MAX_MS]));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("trying again");
  room = true;
  clock.advance(RETRY_MAX_MS);
  expect(await kept).toBe("kept");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("had to wait is stored");
});

test("what is not for want of room passes at once, and so does the end of the store", async () => {
  const { lines, log } = capture();
  for (const error of [new Error("other"), new StorageError("closed", "closed")]) {
    await expect(persistently(new FakeClock(), log, () => Promise.reject(error))).rejects.toBe(error);
  }
  expect(lines).toEqual([]);
});
