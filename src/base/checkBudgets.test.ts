import { expect, test } from "vitest";

import type { Budgets } from "./budgets.js";
import { budgetOverridesSchema, DEFAULT_BUDGETS, resolveBudgets } from "./budgets.js";
import { BUDGET_RULES, checkBudgets } from "./checkBudgets.js";

test("DM089 the defaults keep every rule and are frozen", () => {
  expect(checkBudgets(DEFAULT_BUDGETS)).toEqual([]);
  expect(Object.isFrozen(DEFAULT_BUDGETS)).toBe(true);
  expect(Object.isFrozen(resolveBudgets({ helloMs: 1 }))).toBe(true);
});

test.each<[keyof Budgets, Partial<Budgets>]>([
  ["stopTermAfterMs", { stopTermAfterMs: 25_000 }],
  ["stopKillAfterMs", { stopKillAfterMs: 30_000 }],
  ["stopTotalMs", { stopTotalMs: 30_001, drainMs: 60_000 }],
  ["stopTotalMs", { drainMs: 29_999 }],
  ["turnFinalWorkMs", { turnFinalWorkMs: 20_000 }],
  ["storeCallMs", { finishWaitMs: 20_000 }],
  ["storeCallMs", { unaryDeadlineMs: 20_000 }],
  ["exitAfterFinishedMs", { exitAfterFinishedMs: 30_000 }],
  ["orphanGraceMs", { orphanGraceMs: 30_000 }],
  ["heartbeatIntervalMs", { heartbeatIntervalMs: 20_001 }],
  ["approvalMs", { approvalMs: 600_000 }],
  ["dmNoProgressMs", { dmNoProgressMs: 600_000 }],
  ["noProgressMs", { noProgressMs: 5_000, turnLimitMs: 5_000 }],
  ["dmTurnLimitMs", { messageLifetimeMs: 600_000, relayTtlMs: 200_000 }],
  ["messageLifetimeMs", { messageLifetimeMs: 172_800_001 }],
  ["deadLetterBodyMs", { deadLetterBodyMs: 172_800_001 }],
  ["dedupeHorizonMs", { replyRetentionMs: 172_799_999 }],
  ["clarifyMs", { recordRetentionMs: 3_599_999 }],
  ["turnLimitMs", { turnLimitMs: 2_592_000_001 }],
  ["messageLifetimeMs", { sessionRetentionMs: 86_400_000 }],
  ["relayLeaseMs", { relayLeaseMs: 450_001 }],
  ["relayTtlMs", { relayTtlMs: 86_400_001 }],
  ["peerRetryMinMs", { peerRetryMinMs: 300_001 }],
  ["peerRetryMaxMs", { peerRetryMaxMs: 86_400_000 }],
])("a breach of %s is found: %j", (subject, overrides) => {
  const key = subject.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  expect(checkBudgets(resolveBudgets(overrides)).map((breach) => breach.key)).toContain(key);
});

test("every rule has a breach in the table above", () => {
  expect(BUDGET_RULES).toHaveLength(24);
});

test("0 switches a limit off without breaking a rule", () => {
  expect(checkBudgets(resolveBudgets({ dmNoProgressMs: 0, clarifyMs: 0, deadLetterBodyMs: 0 }))).toEqual([]);
});

test("overrides are snake case, whole and known", () => {
  expect(budgetOverridesSchema.parse({ hello_ms: 5 })).toEqual({ helloMs: 5 });
  for (const bad of [{ helloMs: 5 }, { hello_ms: 1.5 }, { hello_ms: 0 }, { hello_ms: "5" }, { turn_limit_ms: -1 }]) {
    expect(budgetOverridesSchema.safeParse(bad).success, JSON.stringify(bad)).toBe(false);
  }
});
