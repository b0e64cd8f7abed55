import { expect, test } from "vitest";

import { AgentUsage } from "../../gen/talaria/gateway/v1/admin_service.js";
import { budgetNote, usageRow } from "./usageRow.js";

const row = (more: Parameters<typeof AgentUsage.fromPartial>[0]) =>
  usageRow(AgentUsage.fromPartial({ day: "2026-01-02", agent: "a", ...more }));

test("a cost that nobody knows stays unknown", () => {
  expect(row({ turns: 2n, inputTokens: 10n })).toMatchObject({ turns: 2, inputTokens: 10, costUsd: undefined });
  expect(row({ costUsd: 0.25 })).toMatchObject({ costUsd: 0.25 });
});

test.each([
  ["", {}],
  ["10 tokens", { tokensPerDay: 10n }],
  ["10 tokens, $2.5: paused", { tokensPerDay: 10n, costUsdPerDay: 2.5, pause: { message: "used up" } }],
  ["$2.5, lifted by client:ada", { costUsdPerDay: 2.5, liftedBy: "client:ada" }],
  ["lifted by client:ada", { liftedBy: "client:ada" }],
])("the budget is said as %j", (text, usage) => {
  expect(budgetNote(row(usage))).toBe(text);
});
