import { expect, test } from "vitest";

import type { ProcessFacts } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { ProcessGroup } from "./processGroup.js";

/** A machine whose processes come and go as a test says. Numbers are far above any real one, so that a slip hits nobody. */
const BASE = 2 ** 30;
const LEADER = { pid: BASE + 1, birthTicks: 10n };

const fact = (pid: number, birthTicks: bigint, more: Partial<ProcessFacts> = {}): ProcessFacts => ({
  pid,
  birthTicks,
  parentPid: 1,
  state: "S",
  processGroup: LEADER.pid,
  session: LEADER.pid,
  uid: 1000,
  ...more,
});

class FakeTable implements ProcessTable {
  facts: ProcessFacts[];

  constructor(...facts: ProcessFacts[]) {
    this.facts = facts;
  }

  read(pid: number): ProcessFacts | undefined {
    return this.facts.find((one) => one.pid === pid);
  }

  list(): readonly ProcessFacts[] {
    return this.facts;
  }

  bootId(): string {
    return "boot";
  }
}

const groupIn = (table: ProcessTable): ProcessGroup => new ProcessGroup(LEADER, table, new FakeClock());

test("a group is gone when nobody of it is alive", async () => {
  const table = new FakeTable(fact(LEADER.pid, LEADER.birthTicks, { state: "Z" }));
  expect(groupIn(table).isGone()).toBe(true);
  expect(await groupIn(table).kill()).toBe(true);
});

test("OW-R14 a stranger who was given the leader's number is never signalled", async () => {
  const table = new FakeTable(fact(LEADER.pid, 99n));
  const group = groupIn(table);
  group.note();
  expect(group.signal("SIGKILL")).toEqual({ kind: "refused", why: "unproved" });
  expect(await group.kill()).toBe(false);
});

test("OW-R14 members that were never noted prove nothing once the leader's number is somebody else's", () => {
  const table = new FakeTable(fact(LEADER.pid, 99n), fact(BASE + 2, 20n));
  const group = groupIn(table);
  group.note();
  expect(group.signal("SIGTERM")).toEqual({ kind: "refused", why: "unproved" });
});

test("OW-R21 a member noted while the leader lived proves the group after the leader's end", () => {
  const table = new FakeTable(fact(LEADER.pid, LEADER.birthTicks), fact(BASE + 2, 20n));
  const group = groupIn(table);
  group.note();
  table.facts = [fact(BASE + 2, 20n)];
  // The group does not exist on this machine: the signal finds nobody, but it was not refused.
  expect(group.signal("SIGTERM")).toEqual({ kind: "gone" });
  table.facts = [fact(BASE + 2, 21n)];
  expect(group.signal("SIGTERM")).toEqual({ kind: "refused", why: "unproved" });
});

test("OW-R14 once nobody is left who was noted, a group of the same number is a stranger's", () => {
  const table = new FakeTable(fact(BASE + 2, 20n));
  const late = groupIn(table);
  late.note();
  expect(late.signal("SIGKILL")).toEqual({ kind: "refused", why: "unproved" });
});

test("OW-R21 who is left in the moment of the leader's end is noted, and who comes from them later", () => {
  const table = new FakeTable(fact(BASE + 2, 20n));
  const group = groupIn(table);
  group.noteAtExit();
  table.facts = [fact(BASE + 2, 20n), fact(BASE + 4, 40n)];
  group.note();
  table.facts = [fact(BASE + 4, 40n)];
  expect(group.signal("SIGTERM")).toEqual({ kind: "gone" });
});

test("a process of another session in the group is not taken for one of the launch", () => {
  const table = new FakeTable(fact(LEADER.pid, LEADER.birthTicks), fact(BASE + 3, 30n, { session: 5 }));
  const group = groupIn(table);
  group.note();
  table.facts = [fact(BASE + 3, 30n, { session: 5 })];
  expect(group.signal("SIGTERM")).toEqual({ kind: "refused", why: "unproved" });
});

test("OW-R15 the owner's own group and its ancestors' are refused", () => {
  const own = process.pid;
  const parent = process.ppid;
  const table = new FakeTable(
    fact(own, 1n, { processGroup: own, parentPid: parent }),
    fact(parent, 2n, { processGroup: parent, parentPid: 1 }),
  );
  for (const [pid, birthTicks, why] of [
    [own, 1n, "own group"],
    [parent, 2n, "own ancestor"],
  ] as const) {
    const group = new ProcessGroup({ pid, birthTicks }, table, new FakeClock());
    expect(group.signal("SIGKILL")).toEqual({ kind: "refused", why });
  }
});
