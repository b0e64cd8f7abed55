import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

import { silentLogger } from "../../base/logger.js";
import type { ProcessFacts } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { REAP_LOOK_MS, reapOrphans } from "./reapOrphans.js";
import { loadReap } from "./waitForProcess.js";

function facts(pid: number, parentPid: number, state: string, birthTicks = 1n): ProcessFacts {
  return { pid, parentPid, state, birthTicks, processGroup: pid, uid: 0 } as ProcessFacts;
}

function run(pid: number) {
  const clock = new FakeClock();
  const processes: ProcessFacts[] = [];
  const reaped: number[] = [];
  const table: ProcessTable = { read: () => undefined, list: () => processes, bootId: () => "boot" };
  const reap = (orphan: number): void => void reaped.push(orphan);
  const stop = reapOrphans({ pid, table, reap, clock, log: silentLogger() });
  return { clock, processes, reaped, stop };
}

test("process 1 reaps its dead children that are still there at the second look", () => {
  const { clock, processes, reaped, stop } = run(1);
  processes.push(facts(10, 1, "Z"), facts(11, 1, "S"), facts(12, 11, "Z"));
  clock.advance(REAP_LOOK_MS);
  expect(reaped).toEqual([]);
  clock.advance(REAP_LOOK_MS);
  expect(reaped).toEqual([10]);
  stop();
  expect(clock.pending).toBe(0);
});

test("a child that Node takes up between the looks is left to it, also where its number comes again", () => {
  const { clock, processes, reaped, stop } = run(1);
  processes.push(facts(10, 1, "Z", 1n));
  clock.advance(REAP_LOOK_MS);
  processes.splice(0, 1, facts(10, 1, "Z", 2n));
  clock.advance(REAP_LOOK_MS);
  expect(reaped).toEqual([]);
  stop();
});

test("any other process than number 1 reaps nothing", () => {
  const { clock, processes } = run(2);
  processes.push(facts(10, 2, "Z"));
  expect(clock.pending).toBe(0);
});

test.runIf(process.platform === "linux")("a process that is no dead child stays as it is", async () => {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  const reap = loadReap();
  expect(reap).toBeDefined();
  reap?.(child.pid ?? 0);
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
});
