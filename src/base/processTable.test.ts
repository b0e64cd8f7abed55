import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

import { afterEach, describe, expect, test } from "vitest";

import { parsePs, parseStat } from "./parseStat.js";
import type { ProcessFacts } from "./processIdentity.js";
import type { ProcessTable } from "./processTable.js";
import { ancestorsOf, bootId, descendantsOf, groupMembers, isSameProcess, readProcess } from "./processTable.js";
import { signalGroup, signalProcess } from "./signalProcess.js";

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** A shell in a group of its own with a child that prints both pids and waits. */
async function launch(script: string): Promise<{ shell: ProcessFacts; exit: Promise<unknown>; output: string }> {
  const child = spawn("sh", ["-c", script], { detached: true, stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const exit = once(child, "exit");
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  const shell = readProcess(child.pid ?? 0);
  if (!shell) throw new Error("the shell is gone");
  return { shell, exit, output: chunk.toString("utf8").trim() };
}

test("this process, its ancestors and the boot", () => {
  const own = readProcess(process.pid);
  expect(own).toMatchObject({ pid: process.pid, parentPid: process.ppid, uid: process.getuid?.() });
  expect(own && isSameProcess(own)).toBe(true);
  expect(own && isSameProcess({ ...own, birthTicks: own.birthTicks + 1n })).toBe(false);
  expect(ancestorsOf(process.pid, 1).map(({ pid }) => pid)).toEqual([process.ppid]);
  expect(ancestorsOf(process.pid, 50).at(-1)?.parentPid).toBe(0);
  expect(bootId()).toMatch(/^[0-9a-fA-F-]{36}$/);
  for (const none of [0, -1, 1.5, Number.NaN, 2 ** 31]) expect(readProcess(none)).toBeUndefined();
});

test("a command's name may hold spaces and parentheses", () => {
  const tail = "S 7 8 9 " + Array.from({ length: 15 }, (_, index) => String(index)).join(" ") + " 4242 1 2";
  expect(parseStat(`12 (a) R (b c) ${tail}`, 5)).toEqual({
    pid: 12,
    state: "S",
    parentPid: 7,
    processGroup: 8,
    session: 9,
    birthTicks: 4242n,
    uid: 5,
  });
  expect(() => parseStat("12 (x) S", 0)).toThrow(/unexpected/);
  expect(parsePs("  10  1 10  501 Ss   Mon Jan  5 10:00:00 2026\nnoise\n")).toMatchObject([
    { pid: 10, parentPid: 1, processGroup: 10, uid: 501, state: "S" },
  ]);
});

describe("signals to real processes", () => {
  test("a group is found, signalled and proved gone", async () => {
    const { shell, exit, output } = await launch("sleep 60 & echo $!; wait");
    const sleeper = Number(output);
    expect(
      groupMembers(shell.pid)
        .map(({ pid }) => pid)
        .sort(),
    ).toEqual([shell.pid, sleeper].sort());
    expect(descendantsOf(shell.pid).map(({ pid }) => pid)).toEqual([sleeper]);
    const target = { pgid: shell.pid, leader: shell, bootId: bootId() };
    expect(signalGroup(target, "SIGKILL")).toEqual({ kind: "signalled", provedBy: shell.pid });
    await exit;
    await expect.poll(() => groupMembers(shell.pid), { timeout: 10_000 }).toEqual([]);
    expect(signalGroup(target, "SIGKILL")).toEqual({ kind: "gone" });
    expect(signalProcess(shell, "SIGKILL")).toEqual({ kind: "gone" });
  });

  test("a wrong birth is a recycled number: nothing is signalled", async () => {
    const { shell } = await launch("echo up; read line");
    const stranger = { pid: shell.pid, birthTicks: shell.birthTicks - 1n };
    expect(signalGroup({ pgid: shell.pid, leader: stranger }, "SIGKILL")).toEqual({ kind: "refused", why: "unproved" });
    expect(signalProcess(stranger, "SIGKILL")).toEqual({ kind: "gone" });
    expect(signalGroup({ pgid: shell.pid, leader: shell, bootId: "another boot" }, "SIGKILL")).toEqual({
      kind: "gone",
    });
    expect(isSameProcess(shell)).toBe(true);
  });

  test("after the leader's end a recorded member proves the group, and an unrecorded one does not", async () => {
    const { shell, exit, output } = await launch("sleep 60 & echo $!; read line");
    const member = readProcess(Number(output));
    if (!member) throw new Error("the member is gone");
    expect(signalProcess(shell, "SIGKILL")).toEqual({ kind: "signalled", provedBy: shell.pid });
    await exit;
    expect(readProcess(shell.pid)).toBeUndefined();
    expect(signalGroup({ pgid: shell.pid, leader: shell }, "SIGTERM")).toEqual({ kind: "refused", why: "unproved" });
    expect(isSameProcess(member)).toBe(true);
    expect(signalGroup({ pgid: shell.pid, leader: shell, members: [member] }, "SIGTERM")).toEqual({
      kind: "signalled",
      provedBy: member.pid,
    });
    await expect.poll(() => groupMembers(shell.pid), { timeout: 10_000 }).toEqual([]);
  });
});

describe("what is never signalled", () => {
  const facts = (pid: number, parentPid: number, processGroup: number): ProcessFacts => {
    return { pid, parentPid, processGroup, birthTicks: 1n, state: "S", session: processGroup, uid: 0 };
  };
  const all = [facts(1, 0, 1), facts(50, 1, 50), facts(60, 50, 60), facts(70, 60, 60), facts(80, 70, 80)];
  const table: ProcessTable = { read: (pid) => all.find((one) => one.pid === pid), list: () => all, bootId: () => "b" };
  const ports = { table, ownPid: 70, kill: () => expect.unreachable() };

  test.each([
    [0, "invalid"],
    [1, "invalid"],
    [-60, "invalid"],
    [60, "own group"],
    [70, "own group"],
    [50, "own ancestor"],
  ])("group %i: %s", (pgid, why) => {
    const leader = { pid: pgid, birthTicks: 1n };
    expect(signalGroup({ pgid, leader }, "SIGKILL", ports)).toEqual({ kind: "refused", why });
  });

  test.each([
    [1, "invalid"],
    [70, "own process"],
    [60, "own ancestor"],
    [50, "own ancestor"],
  ])("process %i: %s", (pid, why) => {
    expect(signalProcess({ pid, birthTicks: 1n }, "SIGKILL", ports)).toEqual({ kind: "refused", why });
  });

  test("a process that ends between proof and signal counts as gone; any other failure is thrown", () => {
    const failing = (code: string) => ({
      ...ports,
      kill: () => {
        throw Object.assign(new Error(code), { code });
      },
    });
    const target = { pgid: 80, leader: { pid: 80, birthTicks: 1n } };
    expect(signalGroup(target, "SIGKILL", failing("ESRCH"))).toEqual({ kind: "gone" });
    expect(() => signalGroup(target, "SIGKILL", failing("EPERM"))).toThrow("EPERM");
  });
});
