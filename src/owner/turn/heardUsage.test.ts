import { expect, test } from "vitest";

import { Usage } from "../../gen/talaria/types/v1/result.js";
import { HeardUsage } from "./heardUsage.js";

const usageOf = (inputTokens: bigint, more: Partial<Usage> = {}): Usage =>
  Usage.fromPartial({ inputTokens, outputTokens: 5n, reasoningTokens: 2n, apiCalls: 1, ...more });

test("the last figures heard count, whole", () => {
  const usage = new HeardUsage();
  usage.hear(undefined);
  expect(usage.uncounted).toBeUndefined();
  usage.hear(usageOf(10n));
  usage.hear(undefined);
  usage.hear(usageOf(30n, { apiCalls: 2, estimatedCostUsd: 0.5 }));
  expect(usage.uncounted).toEqual({
    inputTokens: 30,
    outputTokens: 5,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 2,
    apiCalls: 2,
    costUsd: 0.5,
  });
});

test("what an operation counts is left out once, however often it comes, and is back when it was refused", () => {
  const usage = new HeardUsage();
  usage.hear(usageOf(30n, { estimatedCostUsd: 0.5 }));
  const counted = { inputTokens: 20, outputTokens: 9, apiCalls: 1, costUsd: 0.25 };
  const takeBack = usage.count(1, counted);
  usage.count(1, counted)();
  expect(usage.uncounted).toMatchObject({ inputTokens: 10, outputTokens: 0, reasoningTokens: 2, costUsd: 0.25 });
  takeBack();
  expect(usage.uncounted).toMatchObject({ inputTokens: 30, outputTokens: 5, apiCalls: 1, costUsd: 0.5 });
});

test.each([
  ["a count over 2^53", usageOf(2n ** 53n + 1n)],
  ["a cost that is no number", usageOf(1n, { estimatedCostUsd: Number.NaN })],
  ["a negative cost", usageOf(1n, { estimatedCostUsd: -1 })],
  ["a cost without end", usageOf(1n, { estimatedCostUsd: Number.POSITIVE_INFINITY })],
])("%s is refused and changes nothing", (_name, broken) => {
  const usage = new HeardUsage();
  usage.hear(usageOf(1n));
  expect(() => {
    usage.hear(broken);
  }).toThrow(expect.objectContaining({ reason: "FRAME_INVALID" }) as Error);
  expect(usage.uncounted?.inputTokens).toBe(1);
});
