import { expect, test } from "vitest";

import type { ProcessFacts } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { descendsFromWorker } from "./descendsFromWorker.js";

function facts(pid: number, parentPid: number, processGroup: number): ProcessFacts {
  return { pid, parentPid, processGroup, birthTicks: BigInt(pid * 10), state: "S", session: 1, uid: 1000 };
}

function tableOf(...rows: readonly ProcessFacts[]): ProcessTable {
  return { read: (pid) => rows.find((row) => row.pid === pid), list: () => rows, bootId: () => "boot" };
}

const worker = { pid: 50, birthTicks: 500n, processGroup: 50 };
const gateway = facts(10, 1, 10);

test.each([
  ["the worker itself", [facts(50, 10, 50)], 50],
  ["its child", [facts(50, 10, 50), facts(60, 50, 50)], 60],
  ["its grandchild in a group of its own", [facts(50, 10, 50), facts(60, 50, 60), facts(70, 60, 60)], 70],
  ["an orphan left in its group", [facts(60, 1, 50)], 60],
  ["a child, in a group of its own, of an orphan left in its group", [facts(60, 1, 50), facts(70, 60, 70)], 70],
])("%s descends", (_, rows, pid) => {
  expect(descendsFromWorker(pid, [worker], tableOf(facts(1, 0, 1), gateway, ...rows))).toBe("descends");
});

test("a person's shell does not", () => {
  expect(descendsFromWorker(80, [worker], tableOf(facts(1, 0, 1), gateway, facts(50, 10, 50), facts(80, 1, 80)))).toBe(
    "none",
  );
});

test("a process that got a dead worker's number does not", () => {
  const reused = { ...facts(50, 1, 51), birthTicks: 999n };
  expect(descendsFromWorker(50, [worker], tableOf(facts(1, 0, 1), reused))).toBe("none");
});

test("a process that is gone is not known", () => {
  expect(descendsFromWorker(99, [worker], tableOf(gateway))).toBe("unknown");
});
