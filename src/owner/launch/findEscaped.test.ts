import { expect, test } from "vitest";

import type { ProcessFacts } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { findEscaped, type StayingProcess } from "./findEscaped.js";
import type { ProcessMarks } from "./launchMark.js";

const LAUNCH = { launchId: "lau_this", leader: { pid: 100, birthTicks: 1_000n } };
const MARKED: ProcessMarks = { launch: LAUNCH.launchId, background: false };

const fact = (pid: number, more: Partial<ProcessFacts> = {}): ProcessFacts => ({
  pid,
  birthTicks: 1_500n,
  parentPid: 1,
  state: "S",
  processGroup: pid,
  session: pid,
  uid: 1_000,
  ...more,
});

interface Machine {
  readonly list: readonly ProcessFacts[];
  readonly marks?: Readonly<Record<number, ProcessMarks>>;
  readonly staying?: readonly StayingProcess[];
  readonly others?: readonly number[];
  /** Numbers that have changed hands since the list was made. */
  readonly reborn?: readonly number[];
}

async function found({
  list,
  marks = {},
  staying = [],
  others = [],
  reborn = [],
}: Machine): Promise<readonly number[]> {
  const table: ProcessTable = {
    read: (pid) => {
      const facts = list.find((one) => one.pid === pid);
      return facts !== undefined && reborn.includes(pid) ? { ...facts, birthTicks: facts.birthTicks + 1n } : facts;
    },
    list: () => list,
    bootId: () => "boot",
  };
  const marksOf = (pid: number): ProcessMarks | undefined => marks[pid] ?? MARKED;
  const search = { launch: LAUNCH, table, marksOf, others: new Set(others), staying };
  return (await findEscaped(search, list)).map(({ pid }) => pid);
}

test("what bears the launch's mark is found wherever it is, also in the session that the launch led", async () => {
  const list = [fact(200), fact(201, { session: LAUNCH.leader.pid }), fact(202, { parentPid: 200, session: 200 })];
  expect(await found({ list })).toEqual([200, 201, 202]);
});

test("nothing else is: another mark, none, an older process, a dead one, one of another launch, one of the group", async () => {
  const list = [
    fact(300),
    fact(301),
    fact(302, { birthTicks: 999n }),
    fact(303, { state: "Z" }),
    fact(304, { session: 900 }),
    fact(305),
    fact(306, { processGroup: LAUNCH.leader.pid }),
  ];
  const marks = { 300: { launch: "lau_other", background: false }, 301: { launch: undefined, background: false } };
  expect(await found({ list, marks, others: [900], reborn: [305] })).toEqual([]);
});

test("a background command's mark lets it and what it has started stay", async () => {
  const list = [fact(400), fact(401, { session: 400, processGroup: 400 }), fact(402)];
  const background = { launch: LAUNCH.launchId, background: true };
  expect(await found({ list, marks: { 400: background, 401: background } })).toEqual([402]);
});

test("a recorded background process stays with its session and its descendants, also without that mark", async () => {
  const list = [
    fact(500),
    fact(501, { session: 500, processGroup: 501 }),
    fact(502, { parentPid: 501 }),
    fact(503, { parentPid: 502 }),
    fact(504),
  ];
  const staying = [{ processGroup: 500 }];
  expect(await found({ list, staying })).toEqual([504]);
});

test("parents that name one another in a circle, as numbers that change hands may make them, end the look", async () => {
  const list = [fact(600, { parentPid: 601 }), fact(601, { parentPid: 600 })];
  expect(await found({ list, staying: [{ processGroup: 2 }] })).toEqual([600, 601]);
});

test("many processes are looked at in pieces between which others run", async () => {
  const list = Array.from({ length: 100 }, (_, at) => fact(1_000 + at));
  let turns = 0;
  let looking = true;
  const count = (): void => {
    turns += 1;
    if (looking) setImmediate(count);
  };
  setImmediate(count);
  expect(await found({ list })).toHaveLength(100);
  looking = false;
  expect(turns).toBeGreaterThanOrEqual(5);
});
