import { expect, test } from "vitest";

import { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { TurnOutcome } from "../../gen/talaria/types/v1/result.js";
import { UsageTotals } from "./usageTotals.js";

const noon = new Date(2026, 0, 2, 12).getTime() / 1_000;
const turn = (day: number, cost?: number, outcome: TurnOutcome = TurnOutcome.TURN_OUTCOME_COMPLETED): Turn =>
  Turn.fromPartial({
    endedAt: { seconds: BigInt(noon + day * 86_400), nanos: 0 },
    outcome,
    usage: {
      inputTokens: 10n,
      outputTokens: 5n,
      apiCalls: 1,
      ...(cost === undefined ? {} : { estimatedCostUsd: cost }),
    },
  });

test("turns are added up by agent and day, the last day first; a cost that nobody knows stays unknown", () => {
  const totals = new UsageTotals();
  totals.add("b", turn(0), 0);
  totals.add("a", turn(0, 0.5), 0);
  totals.add("a", turn(0, 0.25, TurnOutcome.TURN_OUTCOME_FAILED), 0);
  totals.add("a", turn(1), 0);
  totals.add("a", Turn.fromPartial({}), 0);
  expect(totals.rows()).toEqual([
    expect.objectContaining({ day: "2026-01-03", agent: "a", turns: 1, costUsd: undefined }),
    {
      day: "2026-01-02",
      agent: "a",
      turns: 2,
      notCompleted: 1,
      inputTokens: 20,
      outputTokens: 10,
      apiCalls: 2,
      costUsd: 0.75,
    },
    expect.objectContaining({ day: "2026-01-02", agent: "b", turns: 1, costUsd: undefined }),
  ]);
});

test("turns before the time asked for are left out", () => {
  const totals = new UsageTotals();
  totals.add("a", turn(0), (noon + 1) * 1_000);
  expect(totals.rows()).toEqual([]);
});
