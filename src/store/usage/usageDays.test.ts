import { afterEach, expect, test } from "vitest";

import { DAY_MS, utcDay } from "../../base/utcDay.js";
import { openDatabase } from "../database.js";
import { migrate } from "../migrate.js";
import { migrations } from "../migrations/index.js";
import { openStore, type Store } from "../store.js";
import { tempHome } from "../testing/tempHome.js";
import { useStore } from "../testing/useStore.js";
import { persistOperation } from "../turns/persistOperation.js";
import { deleteSession } from "../turns/sessionRequests.js";
import { fresh, TurnBench } from "../turns/testing/turnBench.js";
import { findSession } from "../queries/sessions.js";
import { addUsageToDay } from "./addUsageToDay.js";
import { addUsageToSession } from "./addUsageToSession.js";
import { liftBudget, notePause, noteResume } from "./noteBudget.js";
import { listUsageDays, usageOfDay } from "./usageDays.js";

let store: Store;
useStore((opened) => {
  store = opened;
});
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
});

const free = () =>
  store.writer.execute(
    { name: "test.free", run: (tx) => tx.run("UPDATE sessions SET running_execution_id = NULL").changes },
    null,
  );
const usage = (inputTokens: number, costUsd = 0) => ({
  inputTokens,
  outputTokens: 1,
  cacheReadTokens: 2,
  cacheWriteTokens: 3,
  reasoningTokens: 4,
  apiCalls: 1,
  costUsd,
});

test("receipts, helper calls and losses are counted on the day they happen, and stay when the session goes", async () => {
  const bench = new TurnBench(store);
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true });
  for (const text of ["b", "c"]) await bench.admit(sessionId, { text });
  const now = bench.now;
  const day = utcDay(now);
  const first = await bench.run(sessionId);
  await store.writer.execute(persistOperation, {
    fence: first,
    epoch: store.epoch,
    sequence: 1,
    digest: Buffer.from("helper"),
    operation: {
      kind: "usage",
      purpose: "title",
      provider: "p",
      model: "m",
      inputTokens: 100,
      outputTokens: 10,
      apiCalls: 2,
      costUsd: 0.25,
    },
    maxAnswerBytes: 1,
    now,
  });
  await bench.result(first, { usage: usage(5, 0.5), now: now + DAY_MS });
  await free();
  const second = await bench.run(sessionId);
  await bench.lose(second.executionId, "failed");
  await free();
  expect(listUsageDays(store.reader, { limit: 10 })).toMatchObject([
    { day: day + 1, turns: 1, notCompleted: 0, inputTokens: 5, outputTokens: 1, cacheWriteTokens: 3, costUsd: 0.5 },
    { day, turns: 1, notCompleted: 1, inputTokens: 100, outputTokens: 10, apiCalls: 2, costUsd: 0.25 },
  ]);

  const before = listUsageDays(store.reader, { limit: 10 });
  const request = { principal: "client:test", requestId: "r", digest: "d", sessionId, now: bench.now, keepMs: 1_000 };
  expect(await store.writer.execute(deleteSession, request)).toMatchObject({ kind: "done" });
  expect(listUsageDays(store.reader, { limit: 10 })).toEqual(before);
  expect(store.reader.get("SELECT ended, (SELECT SUM(turns) FROM turn_outcomes) AS counted FROM turn_totals")).toEqual({
    ended: 3,
    counted: 3,
  });
});

test("counters stop at what can be read back exactly", async () => {
  const bench = new TurnBench(store);
  const sessionId = fresh.session();
  await bench.admit(sessionId, { create: true });
  const { MAX_SAFE_INTEGER: most } = Number;
  for (let count = 0; count < 2; count++) {
    await store.writer.execute(
      {
        name: "test.use",
        run: (tx) => {
          addUsageToDay(tx, sessionId, { inputTokens: most, outputTokens: 1, apiCalls: 0, costUsd: 0 }, DAY_MS);
          addUsageToSession(tx, sessionId, usage(most));
          return null;
        },
      },
      null,
    );
  }
  expect(usageOfDay(store.reader, "echo", 1)).toMatchObject({ inputTokens: most, outputTokens: 2 });
  expect(findSession(store.reader, sessionId)?.usage).toMatchObject({ inputTokens: most, outputTokens: 2 });
});

test("a pause is noted once, a lift keeps who was first, and a day can be paged through", async () => {
  const at = { agent: "echo", day: 3 };
  const run: Store["writer"]["execute"] = (command, input) => store.writer.execute(command, input);
  expect(await run(notePause, { ...at, now: 5 })).toBe(false);
  await run(liftBudget, { ...at, by: "client:ada", now: 6 });
  expect(await run(notePause, { ...at, now: 7 })).toBe(true);
  expect(await run(notePause, { ...at, now: 8 })).toBe(false);
  expect(usageOfDay(store.reader, "echo", 3)).toMatchObject({ pausedAt: 7, liftedBy: "client:ada", liftedAt: 6 });
  expect(await run(noteResume, at)).toBe(true);
  expect(await run(noteResume, at)).toBe(false);
  await run(notePause, { ...at, now: 9 });
  await run(liftBudget, { ...at, by: "client:bob", now: 10 });
  expect(usageOfDay(store.reader, "echo", 3)).toMatchObject({ pausedAt: null, liftedBy: "client:ada", liftedAt: 6 });
  for (const [agent, day] of [
    ["a", 2],
    ["b", 3],
  ] as const) {
    await run(liftBudget, { agent, day, by: "x", now: 1 });
  }
  const names = (filter: Partial<Parameters<typeof listUsageDays>[1]>) =>
    listUsageDays(store.reader, { limit: 10, ...filter }).map(({ day, agent }) => `${String(day)} ${agent}`);
  expect(names({})).toEqual(["3 b", "3 echo", "2 a"]);
  expect(names({ limit: 1 })).toEqual(["3 b"]);
  expect(names({ after: { day: 3, agent: "b" } })).toEqual(["3 echo", "2 a"]);
  expect(names({ since: 3 })).toEqual(["3 b", "3 echo"]);
  expect(names({ agent: "a" })).toEqual(["2 a"]);
});

test("an older home's usage is counted once it is migrated: turns on their days, tokens on the session's last", async () => {
  const home = tempHome();
  cleanups.push(() => {
    home.remove();
  });
  const database = openDatabase(home.paths.database);
  migrate(database, migrations.slice(0, 6));
  const day = 20_000;
  database.exec(`
    INSERT INTO sessions (session_id, agent, title, bot_chat, on_unknown, policy, created_at, updated_at, input_tokens,
      output_tokens, api_calls, cost_usd)
    VALUES ('s1', 'ada', '', 0, 'pause', x'', 1, ${String((day + 1) * DAY_MS + 5)}, 30, 3, 2, 0.5),
      ('s2', 'ada', '', 0, 'pause', x'', 1, ${String((day + 1) * DAY_MS + 9)}, 10, 1, 1, 0);
    INSERT INTO auxiliary_usage VALUES ('s1', 'title', 'p', 'm', 7, 2, 1, 0.25);
    INSERT INTO inputs (input_id, session_id, principal, request_scope, request_id, digest, state, author_kind, author_id, author_name,
      author_sent_by, attribution, text, headless, depth, traceparent, tracestate, queued_at, execution_id, outcome, ended_at)
    SELECT 'i' || n, 's1', 'p', 's', 'r' || n, x'', 'ended', 'client', 'c', 'c', '', '', 't', 0, 0, '', '', 1,
      CASE n WHEN 3 THEN NULL ELSE 'e' || n END, CASE n WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' ELSE 'cancelled' END,
      ${String(day * DAY_MS)} + n
    FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3);`);
  database.close();
  const opened = await openStore(home.paths);
  cleanups.unshift(() => opened.close());
  expect(listUsageDays(opened.reader, { limit: 10 })).toMatchObject([
    { day: day + 1, agent: "ada", turns: 0, inputTokens: 47, outputTokens: 6, apiCalls: 4, costUsd: 0.75 },
    { day, agent: "ada", turns: 2, notCompleted: 1, inputTokens: 0 },
  ]);
});
