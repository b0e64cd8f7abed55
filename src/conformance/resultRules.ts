import { exceedsCodePoints } from "../base/codePoints.js";
import { LIMITS } from "../base/limits.js";
import type { TurnResult } from "../gen/talaria/types/v1/result.js";
import { need } from "./checkFailure.js";

/** Longest answer inside the receipt, bytes. Source: TurnResult. */
export const INLINE_BYTES = 1_048_576;
const MAX_COUNT = 2n ** 53n;
const MAX_COST = 1e12;

const COUNTS = [
  "promptTokens",
  "completionTokens",
  "totalTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
  "turnInputTokens",
  "turnOutputTokens",
] as const;
const TEXTS = {
  error: LIMITS.resultStringCodePoints,
  model: 256,
  provider: 64,
  servedModel: 256,
  serviceTier: 64,
} as const;

/** Holds a receipt to the contract's bounds. @throws CheckFailure naming the field. */
export function checkResult(result: TurnResult, sessionId: string): void {
  const { finalResponse, answer, failed, interrupted, completed } = result;
  need(Buffer.byteLength(finalResponse) <= INLINE_BYTES, "final_response is over 1,048,576 bytes");
  need(!completed || (!failed && !interrupted), "completed is set beside failed or interrupted");
  need(completed || failed || interrupted, "none of completed, failed and interrupted is set");
  need(answer === undefined || finalResponse === "", "answer is set beside final_response");
  need(answer === undefined || answer.sha256.length === 32, "answer.sha256 has not 32 bytes");
  need(["", undefined, sessionId].includes(result.sessionId), "session_id is another session's");
  for (const name of COUNTS) need((result[name] ?? 0n) <= MAX_COUNT, `${name} is over 2^53`);
  const cost = result.estimatedCostUsd ?? 0;
  need(Number.isFinite(cost) && cost >= 0 && cost <= MAX_COST, "estimated_cost_usd is out of its bounds");
  for (const [name, limit] of Object.entries(TEXTS) as [keyof typeof TEXTS, number][]) {
    need(!exceedsCodePoints(result[name] ?? "", limit), `${name} is over ${String(limit)} code points`);
  }
}
