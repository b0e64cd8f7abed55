import { expect, test } from "vitest";

import type { ProcessFacts } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { Hello } from "../../gen/talaria/owner/v1/owner_service.js";
import { type ProofInput, proveWorker } from "./proveWorker.js";

const fact = (pid: number, parentPid: number, more: Partial<ProcessFacts> = {}): ProcessFacts => ({
  pid,
  parentPid,
  birthTicks: BigInt(pid) * 10n,
  state: "S",
  processGroup: pid,
  session: pid,
  uid: 1000,
  ...more,
});

function tableOf(...facts: readonly ProcessFacts[]): ProcessTable {
  return { read: (pid) => facts.find((one) => one.pid === pid), list: () => facts, bootId: () => "boot" };
}

/** Owner 100 launched 200; 300, 400, 500 and 600 are its line of descent. */
const family = [fact(100, 1), fact(200, 100), fact(300, 200), fact(400, 300), fact(500, 400), fact(600, 500)];
const table = tableOf(...family);

function prove(pid: number, more: Partial<ProofInput> = {}, hello: Parameters<typeof Hello.fromPartial>[0] = {}) {
  return proveWorker(
    {
      hello: Hello.fromPartial({ process: { pid, birth: BigInt(pid) * 10n }, protocol: { min: 1, max: 1 }, ...hello }),
      peer: { pid, uid: 1000, gid: 1000 },
      launched: { pid: 200, birthTicks: 2000n },
      ownPid: 100,
      ownUid: 1000,
      ...more,
    },
    table,
  );
}

test.each([
  [200, 0],
  [300, 1],
  [400, 2],
  [500, 3],
])("F6 process %i is %i hops from its launch and is believed", (pid, launcherHops) => {
  expect(prove(pid)).toMatchObject({ kind: "proved", process: { pid }, launcherHops });
});

test("without the kernel's word the other three factors are enough, and are named", () => {
  const verdict = prove(300, { peer: undefined });
  expect(verdict).toMatchObject({ kind: "proved", factors: ["token", "process_table", "ancestry"] });
});

const refusals: readonly [string, ReturnType<typeof prove>, string][] = [
  ["a fourth hop", prove(600), "WORKER_NOT_LAUNCHED"],
  ["the owner itself", prove(100), "WORKER_SELF"],
  ["pid 0", prove(0), "WORKER_PID_MISMATCH"],
  ["a negative pid", prove(-5), "WORKER_PID_MISMATCH"],
  ["a pid of nobody", prove(999), "WORKER_NOT_LIVE"],
  ["another birth", prove(300, {}, { process: { pid: 300, birth: 1n } }), "WORKER_BIRTH_MISMATCH"],
  ["another process by the kernel", prove(300, { peer: { pid: 400, uid: 1000, gid: 1000 } }), "WORKER_PID_MISMATCH"],
  ["a launched pid that was born again", prove(300, { launched: { pid: 200, birthTicks: 1n } }), "WORKER_NOT_LAUNCHED"],
  ["another launch", prove(300, { launched: { pid: 500, birthTicks: 5000n } }), "WORKER_NOT_LAUNCHED"],
  ["another user", prove(300, { ownUid: 1 }), "WORKER_NOT_LAUNCHED"],
  ["no protocol", prove(300, {}, { protocol: undefined }), "WORKER_PROTOCOL_UNSUPPORTED"],
  ["a later protocol", prove(300, {}, { protocol: { min: 2, max: 3 } }), "WORKER_PROTOCOL_UNSUPPORTED"],
  ["a range that is none", prove(300, {}, { protocol: { min: 2, max: 1 } }), "WORKER_PROTOCOL_UNSUPPORTED"],
];
test.each(refusals)("F3 F4 F5 %s is refused", (_name, verdict, reason) => {
  expect(verdict).toEqual({ kind: "refused", reason });
});

test("F5 a process that has died and was not reaped is not live", () => {
  const dead = tableOf(...family.filter(({ pid }) => pid !== 300), fact(300, 200, { state: "Z" }));
  const hello = Hello.fromPartial({ process: { pid: 300, birth: 3000n }, protocol: { min: 1, max: 1 } });
  const launched = { pid: 200, birthTicks: 2000n };
  const verdict = proveWorker({ hello, peer: undefined, launched, ownPid: 100, ownUid: 1000 }, dead);
  expect(verdict).toEqual({ kind: "refused", reason: "WORKER_NOT_LIVE" });
});

test("a protocol range that holds ours is taken", () => {
  expect(prove(300, {}, { protocol: { min: 1, max: 7 } }).kind).toBe("proved");
});
