import { expect, test } from "vitest";

import type { ProcessFacts } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { provesConnection } from "./provesConnection.js";

const worker: ProcessFacts = {
  pid: 70,
  birthTicks: 700n,
  parentPid: 1,
  state: "S",
  processGroup: 70,
  session: 70,
  uid: 1_000,
};
const tableOf = (facts: ProcessFacts | undefined): ProcessTable => ({
  read: (pid) => (pid === facts?.pid ? facts : undefined),
  list: () => (facts === undefined ? [] : [facts]),
  bootId: () => "boot",
});
const peer = { pid: 70, uid: 1_000, gid: 1_000 };
const proved = {
  process: { pid: 70, birthTicks: 700n },
  uid: 1_000,
  factors: ["token", "peer_credentials", "process_table", "ancestry"],
} as const;
const unseen = { process: proved.process, uid: undefined, factors: ["token", "process_table", "ancestry"] } as const;

test("a connection of the proved process is believed", () => {
  expect(provesConnection(peer, proved, tableOf(worker))).toBe(true);
});

test.each([
  ["another process", { ...peer, pid: 71 }, worker],
  ["another user", { ...peer, uid: 0 }, worker],
  ["nobody whom the kernel names, where it did for the first proof", undefined, worker],
  ["a later process with the same pid", peer, { ...worker, birthTicks: 701n }],
  ["a process that has ended and was not reaped", peer, { ...worker, state: "Z" }],
  ["a process that is gone", peer, undefined],
])("a connection of %s is not", (_name, credentials, facts) => {
  expect(provesConnection(credentials, proved, tableOf(facts))).toBe(false);
});

test("where the kernel never says who connects, pid and birth must still be those that were proved", () => {
  expect(provesConnection(undefined, unseen, tableOf(worker))).toBe(true);
  expect(provesConnection(undefined, unseen, tableOf({ ...worker, birthTicks: 701n }))).toBe(false);
  expect(provesConnection(undefined, unseen, tableOf(undefined))).toBe(false);
});
