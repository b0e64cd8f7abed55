import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import type { InvalidAgent } from "../../base/config/readAgents.js";
import { silentLogger } from "../../base/logger.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { DAY_MS, utcDay } from "../../base/utcDay.js";
import type { Store } from "../../store/store.js";
import { useStore } from "../../store/testing/useStore.js";
import { addUsageToDay } from "../../store/usage/addUsageToDay.js";
import { liftBudget } from "../../store/usage/noteBudget.js";
import { TurnBench } from "../../store/turns/testing/turnBench.js";
import { createSpendingGuard, PAUSE_LOOK_MS, type SpendingGuard } from "./spendingGuard.js";

/** Noon of a day. */
const NOON = Date.UTC(2026, 0, 2, 12);
const SESSION = "ses_1";

let store: Store;
const home = useStore((opened) => {
  store = opened;
});
let clock: FakeClock;
let budgets: Record<string, AgentConfig["budget"]>;
let broken: readonly string[];
let told: string[];
const guards: SpendingGuard[] = [];

/** A guard as a start of the gateway makes it. */
function guardOf(): SpendingGuard {
  const list = () => Object.entries(budgets).map(([name, budget]) => ({ name, budget }) as unknown as AgentConfig);
  const get = (name: string) => list().find((one) => one.name === name);
  const invalid = () => broken.map((name) => ({ name }) as unknown as InvalidAgent);
  const guard = createSpendingGuard({ store, agents: { get, list, invalid }, clock, log: silentLogger() });
  guard.listen({
    paused: ({ agent, reached, until }) =>
      told.push(`${agent} paused at ${String(reached?.used)} until ${String(until)}`),
    resumed: (agent) => told.push(`${agent} resumed`),
  });
  guards.push(guard);
  return guard;
}

async function use(inputTokens: number, costUsd = 0): Promise<void> {
  const command = {
    name: "test.use",
    run: (tx: Parameters<typeof addUsageToDay>[0]) => {
      addUsageToDay(tx, SESSION, { inputTokens, outputTokens: 0, apiCalls: 1, costUsd }, clock.now());
      return null;
    },
  };
  await store.writer.execute(command, null);
}

/** Lets what the guard has asked of the store come to its end. */
async function settled(): Promise<void> {
  await store.writer.execute({ name: "test.nothing", run: () => null }, null);
}

beforeEach(async () => {
  clock = new FakeClock(NOON);
  budgets = { echo: { tokensPerDay: 10 } };
  broken = [];
  told = [];
  await new TurnBench(store).admit(SESSION, { create: true });
});
afterEach(() => {
  for (const guard of guards.splice(0)) guard.stop();
  expect(clock.pending).toBe(0);
});

const MIDNIGHT = String(Date.UTC(2026, 0, 3));

test("an agent is paused from the use that reaches its budget to the end of the UTC day, and that is told once", async () => {
  const guard = guardOf();
  await use(9);
  guard.turnEnded("echo");
  expect(guard.closedFor("echo")).toBeUndefined();
  await use(1);
  guard.turnEnded("echo");
  guard.turnEnded("echo");
  await settled();
  expect(told).toEqual([`echo paused at 10 until ${MIDNIGHT}`]);
  expect(guard.closedFor("echo")).toMatchObject({
    reason: "BUDGET_REACHED",
    message: "Agent echo has used 10 of 10 tokens of this UTC day and is paused until 2026-01-03T00:00:00.000Z.",
    details: { retryAfterMs: DAY_MS / 2, metadata: { agent: "echo", key: "budget.tokens_per_day" } },
  });
  expect(guard.pauses().map(({ agent }) => agent)).toEqual(["echo"]);
  await clock.advanceAsync(DAY_MS / 2 - 1);
  expect(guard.closedFor("echo")).toMatchObject({ details: { retryAfterMs: 1 } });
  expect(told).toHaveLength(1);
  await clock.advanceAsync(1);
  await settled();
  expect(guard.closedFor("echo")).toBeUndefined();
  expect(told.slice(1)).toEqual(["echo resumed"]);
  expect(clock.pending).toBe(0);
});

test("a start in the middle of a pause goes on with it and does not tell it again", async () => {
  await use(10);
  guardOf().look();
  await settled();
  guards.splice(0).forEach((guard) => {
    guard.stop();
  });
  await home.restart();
  const next = guardOf();
  next.look();
  await settled();
  expect(told).toHaveLength(1);
  expect(next.closedFor("echo")?.reason).toBe("BUDGET_REACHED");
  await clock.advanceAsync(DAY_MS / 2);
  await settled();
  expect(told.slice(1)).toEqual(["echo resumed"]);
});

test("a budget that is raised, taken away or lifted lets the agent go on at once; another pause is told again", async () => {
  const guard = guardOf();
  await use(10);
  guard.look();
  await settled();
  budgets = { echo: { tokensPerDay: 20 } };
  guard.look();
  await settled();
  expect(told.slice(1)).toEqual(["echo resumed"]);
  await use(10);
  guard.turnEnded("echo");
  await settled();
  expect(told.slice(2)).toEqual([`echo paused at 20 until ${MIDNIGHT}`]);
  const day = utcDay(clock.now());
  await store.writer.execute(liftBudget, { agent: "echo", day, by: "client:ada", now: clock.now() });
  guard.look();
  await settled();
  await use(100);
  guard.turnEnded("echo");
  await settled();
  expect(told.slice(3)).toEqual(["echo resumed"]);
  await clock.advanceAsync(DAY_MS);
  await use(20);
  guard.turnEnded("echo");
  await settled();
  expect(told.slice(4)).toHaveLength(1);
  budgets = {};
  guard.look();
  await settled();
  expect(told.slice(5)).toEqual(["echo resumed"]);
});

test("a raise while the gateway is down ends the pause on record, so that the next one is told", async () => {
  await use(10);
  guardOf().look();
  await settled();
  guards.splice(0).forEach((guard) => {
    guard.stop();
  });
  budgets = { echo: { tokensPerDay: 11 } };
  const next = guardOf();
  next.look();
  await settled();
  await use(1);
  next.turnEnded("echo");
  await settled();
  expect(told.filter((line) => line.includes("paused"))).toHaveLength(2);
});

test("wall time that jumps over midnight is noticed", async () => {
  const guard = guardOf();
  await use(10);
  guard.look();
  await settled();
  clock.jumpWallTime(DAY_MS);
  expect(guard.closedFor("echo")).toBeUndefined();
  await clock.advanceAsync(PAUSE_LOOK_MS);
  await settled();
  expect(told.slice(1)).toEqual(["echo resumed"]);
});

test("a cost reaches its own budget; what has none, or is not known, is never paused", async () => {
  budgets = { echo: { costUsdPerDay: 0.5 } };
  const guard = guardOf();
  await use(1_000_000, 0.4);
  expect(guard.closedFor("echo")).toBeUndefined();
  await use(0, 0.2);
  expect(guard.closedFor("echo")?.message).toContain("$0.6000 of $0.5");
  await settled();
  expect(told).toHaveLength(1);
  budgets = { echo: {} };
  expect(guard.closedFor("echo")).toBeUndefined();
  expect(guard.closedFor("nobody")).toBeUndefined();
});

test("a mistake in the file ends no pause, also over a start; the day's end and a file without it do", async () => {
  await use(10);
  guardOf().look();
  await settled();
  [budgets, broken] = [{}, ["echo"]];
  const next = guardOf();
  next.look();
  await settled();
  expect(told).toHaveLength(1);
  expect(next.closedFor("echo")?.message).toContain("has used its budget of this UTC day");
  expect(next.pauses().map(({ agent }) => agent)).toEqual(["echo"]);
  [budgets, broken] = [{ echo: { tokensPerDay: 11 } }, []];
  next.look();
  await settled();
  expect(told.slice(1)).toEqual(["echo resumed"]);
  await use(1);
  next.turnEnded("echo");
  await settled();
  [budgets, broken] = [{}, ["echo"]];
  guards[0]?.stop();
  await clock.advanceAsync(DAY_MS / 2);
  await settled();
  expect(next.closedFor("echo")).toBeUndefined();
  expect(told.slice(3)).toEqual(["echo resumed"]);
});

test("the end of a pause that cannot be noted is tried again", async () => {
  const guard = guardOf();
  await use(10);
  guard.look();
  await settled();
  const { writer } = store;
  const execute = writer.execute.bind(writer);
  const refused = vi.spyOn(writer, "execute").mockRejectedValueOnce(new Error("full"));
  budgets = {};
  guard.look();
  await clock.advanceAsync(1);
  expect(told.slice(1)).toEqual([]);
  refused.mockImplementation(execute);
  await clock.advanceAsync(PAUSE_LOOK_MS);
  await settled();
  expect(told.slice(1)).toEqual(["echo resumed"]);
  refused.mockRestore();
});
