import { statSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";

import { DEFAULT_BUDGETS } from "../../base/budgets.js";
import type { HomePaths } from "../../base/home.js";
import { silentLogger } from "../../base/logger.js";
import type { ProcessFacts } from "../../base/processIdentity.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { DAY_MS, utcDay } from "../../base/utcDay.js";
import type { SqlValue, Tx } from "../../store/sql.js";
import type { Store } from "../../store/store.js";
import { useStore } from "../../store/testing/useStore.js";
import { persistOperation } from "../../store/turns/persistOperation.js";
import { releaseSession } from "../../store/turns/releaseSession.js";
import { fresh, TurnBench } from "../../store/turns/testing/turnBench.js";
import { FORGET_RECORDS } from "../../store/retention/forgetRecords.js";
import { SPARE_PAGES } from "../../store/retention/freePages.js";
import { createHousekeeping, FIRST_ROUND_MS, type Housekeeping, ROUND_MS } from "./housekeeping.js";

const BOOT = "this boot";
/** Long after everything that a bench does. */
const LATER = 1_700_000_000_000 + 1_000 * DAY_MS;

let store: Store;
let paths: HomePaths;
useStore((opened, home) => {
  store = opened;
  paths = home.paths;
});
let clock: FakeClock;
let gone: string[];
let marks: ReadonlyMap<number, string>;
const made: Housekeeping[] = [];

function housekeeping(budgets: Partial<typeof DEFAULT_BUDGETS> = {}): Housekeeping {
  const one = createHousekeeping({
    store,
    budgets: { ...DEFAULT_BUDGETS, ...budgets },
    clock,
    table: {
      read: () => undefined,
      list: () => [...marks.keys()].map((pid) => ({ pid }) as ProcessFacts),
      bootId: () => BOOT,
    },
    markOf: (pid) => marks.get(pid),
    log: silentLogger(),
    sessionGone: (sessionId) => gone.push(sessionId),
  });
  made.push(one);
  return one;
}

/** Changes rows as no command does. */
function change(run: (tx: Tx) => void): Promise<null> {
  return store.writer.execute(
    {
      name: "test.change",
      run: (tx) => {
        run(tx);
        return null;
      },
    },
    null,
  );
}

const count = (sql: string, ...values: SqlValue[]): number =>
  store.reader.get<{ n: number }>(`SELECT COUNT(*) AS n FROM ${sql}`, ...values)?.n ?? 0;

/** A round, with the pauses between its batches. */
async function roundOf(one: Housekeeping): Promise<void> {
  const state = { over: false };
  const round = one.round().finally(() => (state.over = true));
  while (!state.over) await clock.advanceAsync(1_000);
  await round;
}

/** A session with so many turns that have ended. */
async function session(turns: number): Promise<string> {
  const bench = new TurnBench(store);
  const sessionId = fresh.session();
  for (let turn = 0; turn < turns; turn += 1) {
    await bench.admit(sessionId, { create: turn === 0, text: `turn ${String(turn)}` });
    const fence = await bench.run(sessionId);
    await store.writer.execute(persistOperation, {
      fence,
      epoch: store.epoch,
      sequence: 1,
      digest: Buffer.from("d"),
      operation: { kind: "title", title: "t" },
      maxAnswerBytes: 1,
      now: bench.now,
    });
    await bench.result(fence);
    await store.writer.execute(releaseSession, { executionId: fence.executionId, now: bench.now });
  }
  return sessionId;
}

function launch(tx: Tx, id: string, bootId: string, goneAt: number | null): void {
  tx.run(
    `INSERT INTO launches (launch_id, epoch, pid, birth, boot_id, process_group, created_at, gone_at)
     VALUES (?, 1, 1, '1', ?, 1, 1, ?)`,
    id,
    bootId,
    goneAt,
  );
}

beforeEach(() => {
  clock = new FakeClock(LATER);
  gone = [];
  marks = new Map();
});
afterEach(async () => {
  for (const one of made.splice(0)) await one.stop();
  expect(clock.pending).toBe(0);
});

test("what is the gateway's own goes when it was kept long enough; what was said stays, and so do turns and their receipts", async () => {
  const sessionId = await session(20);
  await change((tx) => {
    tx.run(
      `INSERT INTO prompts (prompt_id, session_id, execution_id, worker_prompt_id, request, end, created_at, ended_at)
       VALUES ('old', ?1, 'e', '1', x'', 'answered', 1, 5), ('fresh', ?1, 'e', '2', x'', 'answered', 1, ?2), ('open', ?1, 'e', '3', x'', NULL, 1, NULL)`,
      sessionId,
      LATER,
    );
    tx.run(
      `INSERT INTO background_processes VALUES (?1, 'old', 1, '1', 1, 'c', 'exited', 0, 5), (?1, 'runs', 1, '1', 1, 'c', 'running', NULL, 5)`,
      sessionId,
    );
    tx.run("INSERT INTO usage_days (day, agent) VALUES (?1, 'old'), (?1 + 1, 'kept')", utcDay(LATER) - 401);
    for (let epoch = 0; epoch < 3; epoch += 1) {
      tx.run("INSERT INTO epochs SELECT max(epoch) + 1, 5, 1, 1, '' FROM epochs");
    }
  });
  const before = ["messages", "inputs", "executions WHERE result IS NOT NULL"].map((table) => count(table));
  await roundOf(housekeeping());
  expect(["messages", "inputs", "executions WHERE result IS NOT NULL"].map((table) => count(table))).toEqual(before);
  expect(count("store_operations")).toBe(0);
  expect(count("executions WHERE trimmed = 1 AND evidence IS NULL")).toBe(20);
  expect(store.reader.all("SELECT prompt_id FROM prompts ORDER BY prompt_id")).toEqual([
    { prompt_id: "fresh" },
    { prompt_id: "open" },
  ]);
  expect(store.reader.all("SELECT process_id FROM background_processes")).toEqual([{ process_id: "runs" }]);
  expect(store.reader.all("SELECT agent FROM usage_days WHERE agent IN ('old', 'kept')")).toEqual([{ agent: "kept" }]);
  // Never the one that runs, nor what the next start counts from.
  expect(count("epochs WHERE epoch < ?", store.epoch)).toBe(0);
  expect(count("epochs WHERE epoch = ?", store.epoch)).toBe(1);
  expect(gone).toEqual([]);
});

test("a launch is forgotten once no process of it can be left", async () => {
  await change((tx) => {
    for (let n = 0; n < 2 * FORGET_RECORDS + 3; n += 1) launch(tx, `old-${String(n)}`, BOOT, 5);
    launch(tx, "lives on", BOOT, 5);
    launch(tx, "of an earlier boot", "another boot", 5);
    launch(tx, "not gone", BOOT, null);
    launch(tx, "gone lately", BOOT, LATER - 1);
  });
  marks = new Map([
    [7, "lives on"],
    [8, "of an earlier boot"],
  ]);
  await roundOf(housekeeping());
  expect(store.reader.all("SELECT launch_id AS id FROM launches ORDER BY id")).toEqual([
    { id: "gone lately" },
    { id: "lives on" },
    { id: "not gone" },
  ]);
});

test("idle sessions stay unless a file says otherwise; then those that wait for nothing go, whole", async () => {
  const idle = await session(2);
  const recent = await session(1);
  const waiting = await session(1);
  const paused = await session(1);
  const chat = await session(1);
  await new TurnBench(store).admit(waiting, { text: "waits" });
  await change((tx) => {
    tx.run("UPDATE sessions SET updated_at = ?", LATER - 10 * DAY_MS);
    tx.run("UPDATE sessions SET updated_at = ? WHERE session_id = ?", LATER - DAY_MS, recent);
    tx.run("UPDATE sessions SET paused_execution_id = 'e' WHERE session_id = ?", paused);
    tx.run("UPDATE sessions SET bot_chat = 1 WHERE session_id = ?", chat);
    tx.run(
      `INSERT INTO sessions (session_id, agent, title, bot_chat, on_unknown, policy, parent_session_id, child_depth, created_at, updated_at)
       VALUES ('child', 'echo', '', 0, 'continue', x'', ?, 1, 1, ?)`,
      idle,
      LATER,
    );
  });
  await roundOf(housekeeping());
  expect(count("sessions")).toBe(6);
  const days = store.reader.all("SELECT * FROM usage_days");
  await roundOf(housekeeping({ sessionRetentionMs: 5 * DAY_MS }));
  expect(gone).toEqual([idle, "child"]);
  expect(count("sessions WHERE session_id IN (?, 'child')", idle)).toBe(0);
  expect(count("messages WHERE session_id = ?", idle)).toBe(0);
  expect(count("sessions")).toBe(4);
  expect(store.reader.all("SELECT * FROM usage_days")).toEqual(days);
  const totals = "SELECT ended, (SELECT SUM(turns) FROM turn_outcomes) AS counted FROM turn_totals";
  expect(store.reader.get(totals)).toEqual({ ended: 6, counted: 6 });
});

test("room that was freed goes back to the file system, but for what is kept for the next writes", async () => {
  const sessionId = await session(1);
  const page = 4_096;
  await change((tx) => {
    for (let row = 0; row < 3 * SPARE_PAGES; row += 1) {
      tx.run(
        "INSERT INTO answer_chunks SELECT execution_id, ?, ? FROM executions WHERE session_id = ?",
        row,
        "x".repeat(page),
        sessionId,
      );
    }
  });
  store.writer.truncateLog();
  const full = statSync(paths.database).size;
  await change((tx) => {
    tx.run("DELETE FROM sessions WHERE session_id = ?", sessionId);
  });
  await roundOf(housekeeping());
  store.writer.truncateLog();
  const { size } = statSync(paths.database);
  expect(full).toBeGreaterThan(3 * SPARE_PAGES * page);
  expect(size).toBeLessThan(2 * SPARE_PAGES * page);
  expect(size).toBeGreaterThan(SPARE_PAGES * page);
  expect(store.reader.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
});

test("rounds come by the clock, and others' commands come between its batches", async () => {
  await change((tx) => {
    for (let n = 0; n < 2 * FORGET_RECORDS; n += 1) launch(tx, `old-${String(n)}`, BOOT, 5);
  });
  const one = housekeeping();
  one.start();
  await clock.advanceAsync(FIRST_ROUND_MS - 1);
  expect(count("launches")).toBe(2 * FORGET_RECORDS);
  await clock.advanceAsync(1);
  await change(() => undefined);
  expect(count("launches")).toBe(FORGET_RECORDS);
  for (let turn = 0; turn < 10; turn += 1) await clock.advanceAsync(100);
  expect(count("launches")).toBe(0);
  await change((tx) => {
    launch(tx, "later", BOOT, 5);
  });
  await clock.advanceAsync(ROUND_MS);
  await change(() => undefined);
  expect(count("launches")).toBe(0);
});
