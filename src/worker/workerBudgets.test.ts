import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DEFAULT_BUDGETS } from "../base/budgets.js";
import { WorkerBudgets } from "../gen/talaria/owner/v1/owner_service.js";
import { WORKER_BUILD } from "./build.js";
import { DEFAULT_WORKER_BUDGETS, HELLO_BUDGET_MS, resolveWorkerBudgets } from "./workerBudgets.js";

test("the worker's defaults are those of the budget table", () => {
  expect(DEFAULT_WORKER_BUDGETS).toMatchObject({
    finishWaitMs: DEFAULT_BUDGETS.finishWaitMs,
    orphanGraceMs: DEFAULT_BUDGETS.orphanGraceMs,
    turnFinalMs: DEFAULT_BUDGETS.turnFinalWorkMs,
    approvalMs: DEFAULT_BUDGETS.approvalMs,
    clarifyMs: DEFAULT_BUDGETS.clarifyMs,
    storeCallMs: DEFAULT_BUDGETS.storeCallMs,
    heartbeatMs: DEFAULT_BUDGETS.heartbeatIntervalMs,
    openPrompts: DEFAULT_BUDGETS.openPromptsPerExecution,
  });
  expect(HELLO_BUDGET_MS).toBe(DEFAULT_BUDGETS.helloMs);
  expect(resolveWorkerBudgets(undefined)).toEqual(DEFAULT_WORKER_BUDGETS);
});

test("what the owner leaves out has its default; only a question may wait without bound", () => {
  const wire = WorkerBudgets.fromPartial({
    clarify: { seconds: 0n, nanos: 0 },
    approval: { seconds: 1n, nanos: 500_000_000 },
  });
  expect(resolveWorkerBudgets(wire)).toEqual({ ...DEFAULT_WORKER_BUDGETS, clarifyMs: 0, approvalMs: 1_500 });
});

test("the build names the package's version", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  expect(WORKER_BUILD.version).toBe(version);
});
