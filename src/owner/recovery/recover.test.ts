import { createHmac } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { systemClock } from "../../base/clock.js";
import { silentLogger } from "../../base/logger.js";
import type { ProcessTable } from "../../base/processTable.js";
import { TurnResult } from "../../gen/talaria/types/v1/result.js";
import type { Command } from "../../store/command.js";
import { systemRandom } from "../../base/random.js";
import { passingTracer } from "../../rpc/tracing/passingTracer.js";
import type { Store } from "../../store/store.js";
import type { tempHome } from "../../store/testing/tempHome.js";
import { useStore } from "../../store/testing/useStore.js";
import { recordLaunch } from "../../store/turns/recordLaunch.js";
import { fresh, TurnBench } from "../../store/turns/testing/turnBench.js";
import { makeOutbox, outboxDirectory, outboxKey, readOutbox } from "./outbox.js";
import { recover } from "./recover.js";

let home: ReturnType<typeof tempHome>;
let store: Store;
const { restart } = useStore((opened, at) => {
  store = opened;
  home = at;
});

/** A machine on which nothing of an earlier start is left. */
const emptyTable: ProcessTable = { read: () => undefined, list: () => [], bootId: () => "boot" };

interface Left {
  readonly kept: string;
  readonly lost: string;
  readonly unreleased: string;
  readonly sessions: readonly string[];
}

/** What an owner leaves that dies: a kept result, a lost turn, a settled turn whose session is held, and a launch. */
async function leaveBehind(): Promise<Left> {
  const bench = new TurnBench(store);
  const sessions = [fresh.session(), fresh.session(), fresh.session()] as const;
  for (const sessionId of sessions) {
    await bench.admit(sessionId, { create: true });
    await bench.admit(sessionId, { text: "next" });
  }
  const [kept, lost, unreleased] = await Promise.all(sessions.map((sessionId) => bench.run(sessionId)));
  if (kept === undefined || lost === undefined || unreleased === undefined) throw new Error("nothing runs");
  await bench.result(unreleased);
  for (const { executionId } of [kept, lost, unreleased]) {
    makeOutbox(outboxDirectory(home.paths.outboxesDir, executionId));
  }
  keep(kept.executionId, { finalResponse: "kept" });
  await store.writer.execute(recordLaunch, {
    launchId: "lau_left",
    epoch: store.epoch,
    pid: 4_000_000,
    birth: "1",
    bootId: "boot",
    processGroup: 4_000_000,
    now: bench.now,
  });
  return { kept: kept.executionId, lost: lost.executionId, unreleased: unreleased.executionId, sessions };
}

function keep(executionId: string, result: Parameters<typeof TurnResult.fromPartial>[0], damage = 0): void {
  const bytes = Buffer.from(TurnResult.encode(TurnResult.fromPartial(result)).finish());
  const key = outboxKey(store.homeKey, executionId);
  const code = createHmac("sha256", key).update(executionId).update(Buffer.of(0)).update(bytes).digest();
  code[0] = (code[0] ?? 0) ^ damage;
  const directory = outboxDirectory(home.paths.outboxesDir, executionId);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, "result"), Buffer.concat([code, bytes]));
}

class Died extends Error {}

/** Recovers, with a process that dies before its n-th commit. @returns ids of inputs told to be unknown. */
async function recoverUntil(commits: number, told: string[] = []): Promise<string[]> {
  let left = commits;
  const { writer } = store;
  const dying = Object.create(writer) as Store["writer"];
  dying.execute = <Input, Result>(command: Command<Input, Result>, input: Input): Promise<Result> => {
    left -= 1;
    return left < 0 ? Promise.reject(new Died()) : writer.execute(command, input);
  };
  await recover({
    store: { ...store, writer: dying },
    clock: systemClock,
    table: emptyTable,
    marksOf: () => undefined,
    log: silentLogger(),
    tracer: passingTracer(systemRandom),
    outboxesDir: home.paths.outboxesDir,
    effects: () => undefined,
    unknownOutcome: async (inputId, claim) => {
      for (const telling of ["event", "command"] as const) {
        if (await claim(telling)) told.push(`${inputId} ${telling}`);
      }
    },
  });
  return told;
}

function expectRecovered(left: Left): void {
  const outcomes = store.reader.all<{ execution_id: string; outcome: string; state: string }>(
    "SELECT execution_id, outcome, state FROM executions",
  );
  expect(new Map(outcomes.map((row) => [row.execution_id, `${row.state} ${row.outcome}`]))).toEqual(
    new Map([
      [left.kept, "finished completed"],
      [left.lost, "lost unknown"],
      [left.unreleased, "finished completed"],
    ]),
  );
  expect(store.reader.all("SELECT 1 FROM launches WHERE gone_at IS NULL")).toEqual([]);
  expect(store.reader.all("SELECT 1 FROM sessions WHERE running_execution_id IS NOT NULL")).toEqual([]);
  expect(readdirSync(home.paths.outboxesDir)).toEqual([]);
  expect(store.reader.all("SELECT 1 FROM messages WHERE text = 'kept'")).toHaveLength(1);
  const totals = store.reader.all("SELECT admitted, started, ended FROM turn_totals");
  expect(totals).toEqual([{ admitted: 6, started: 3, ended: 3 }]);
}

test("what a dead owner left is settled: a kept result as what it was, the rest unknown, every session free", async () => {
  const left = await leaveBehind();
  await restart();
  const told = await recoverUntil(Number.POSITIVE_INFINITY);
  expectRecovered(left);
  const [lost] = store.reader.all<{ input_id: string }>(
    "SELECT input_id FROM inputs WHERE execution_id = ?",
    left.lost,
  );
  expect(told).toEqual([`${lost?.input_id ?? ""} event`, `${lost?.input_id ?? ""} command`]);
  expect(await recoverUntil(0)).toEqual([]);
});

test("recovery that is killed before any of its commits, three times over, comes to the same end", async () => {
  const left = await leaveBehind();
  for (let commits = 0; commits < 3; commits += 1) {
    await restart();
    await expect(recoverUntil(commits)).rejects.toThrow(Died);
  }
  for (let commits = 1; ; commits += 1) {
    await restart();
    try {
      await recoverUntil(commits);
      break;
    } catch (error) {
      if (!(error instanceof Died) || commits > 20) throw error;
    }
  }
  expectRecovered(left);
});

test("OW-R3 OW-R9 an unknown outcome is told once, however often recovery is killed after it", async () => {
  await leaveBehind();
  const told: string[] = [];
  for (let commits = 2; commits < 12; commits += 1) {
    await restart();
    await recoverUntil(commits, told).catch(() => undefined);
  }
  await restart();
  await recoverUntil(Number.POSITIVE_INFINITY, told);
  expect(told.map((one) => one.split(" ")[1]).sort()).toEqual(["command", "event"]);
});

test("OW15 F12 a turn that nobody had adopted waits again, unless its outbox says that somebody had begun, and three times at most", async () => {
  const sessions = [fresh.session(), fresh.session()] as const;
  const [again, begun] = sessions;
  let bench = new TurnBench(store);
  for (const sessionId of sessions) await bench.admit(sessionId, { create: true });
  const told: string[] = [];
  const states: (string | null)[] = [];
  for (let start = 0; start < 3; start += 1) {
    const executionId = fresh.execution();
    await bench.claim(again, executionId);
    if (start === 0) {
      const other = fresh.execution();
      await bench.claim(begun, other);
      keep(other, { finalResponse: "kept" });
    }
    await restart();
    bench = new TurnBench(store);
    await recoverUntil(Number.POSITIVE_INFINITY, told);
    const [input] = store.reader.all<{ outcome: string | null }>(
      "SELECT outcome FROM inputs WHERE session_id = ?",
      again,
    );
    states.push(input?.outcome ?? null);
  }
  expect(states).toEqual([null, null, "failed"]);
  const ends = store.reader.all<{ outcome: string; failure: string }>(
    "SELECT outcome, failure FROM inputs ORDER BY sequence",
  );
  expect(ends).toMatchObject([
    { outcome: "failed", failure: expect.stringContaining("TURN_NOT_STARTED") as string },
    { outcome: "unknown", failure: expect.stringContaining("OWNER_LOST") as string },
  ]);
  expect(told.map((one) => one.split(" ")[1])).toEqual(["event", "command"]);
  expect(store.reader.all("SELECT 1 FROM sessions WHERE running_execution_id IS NOT NULL")).toEqual([]);
});

test("F32 a damaged, forged or empty outbox and a result over its bounds are not used", async () => {
  const left = await leaveBehind();
  keep(left.kept, { finalResponse: "forged" }, 1);
  keep(left.lost, { finalResponse: "x".repeat(1_048_577) });
  await restart();
  await recoverUntil(Number.POSITIVE_INFINITY);
  const outcomes = store.reader.all<{ outcome: string }>(
    "SELECT outcome FROM executions WHERE execution_id IN (?, ?)",
    left.kept,
    left.lost,
  );
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["unknown", "unknown"]);
  expect(existsSync(outboxDirectory(home.paths.outboxesDir, left.kept))).toBe(false);
});

test.each(["../other", "..", "a/b", "a\\b", "", ".", "x".repeat(201), "a\0b"])(
  "OW29 OW30 %j names no outbox",
  (executionId) => {
    expect(() => outboxDirectory("/outboxes", executionId)).toThrow();
  },
);

test("OW29 an outbox is distinct for each execution and its key too", () => {
  const [one, two] = [fresh.execution(), fresh.execution()];
  expect(outboxDirectory("/outboxes", one)).toBe(`/outboxes/${one}`);
  expect(outboxDirectory("/outboxes", one)).not.toBe(outboxDirectory("/outboxes", two));
  expect(outboxKey(store.homeKey, one).equals(outboxKey(store.homeKey, two))).toBe(false);
});

test("F32 an outbox over 4 MiB is refused unread, an authentic one too", () => {
  const executionId = fresh.execution();
  const read = () =>
    readOutbox(
      outboxDirectory(home.paths.outboxesDir, executionId),
      outboxKey(store.homeKey, executionId),
      executionId,
    );
  keep(executionId, { finalResponse: "x".repeat(4_194_000) });
  expect(read().kind).toBe("result");
  keep(executionId, { finalResponse: "x".repeat(4_194_304) });
  expect(read().kind).toBe("refused");
});

test("OW-R11 a result of one execution is refused under another's name", () => {
  const [one, two] = [fresh.execution(), fresh.execution()];
  keep(one, { finalResponse: "one" });
  const directory = outboxDirectory(home.paths.outboxesDir, one);
  expect(readOutbox(directory, outboxKey(store.homeKey, one), one)).toMatchObject({ kind: "result" });
  expect(readOutbox(directory, outboxKey(store.homeKey, two), two)).toEqual({ kind: "refused" });
  expect(readOutbox(directory, outboxKey(store.homeKey, one), two)).toEqual({ kind: "refused" });
  expect(readOutbox(join(directory, "none"), outboxKey(store.homeKey, one), one)).toEqual({ kind: "empty" });
});

test.each([
  ["a file", (path: string) => writeFileSync(path, "")],
  ["a link to another folder", (path: string) => symlinkSync(home.paths.outboxesDir, path)],
])(
  "a start is not held up by %s in the place of an outbox: the turn is unknown, and what stood there is gone",
  async (_, put) => {
    const left = await leaveBehind();
    const directory = outboxDirectory(home.paths.outboxesDir, left.lost);
    rmSync(directory, { recursive: true });
    put(directory);
    await restart();
    await recoverUntil(Infinity);
    expectRecovered(left);
  },
);
