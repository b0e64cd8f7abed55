import { toCount } from "../../base/toCount.js";
import type { TurnResult } from "../../gen/talaria/types/v1/result.js";
import { failureReason } from "../../rpc/failureReason.js";
import { reasonEntry, reasonOfNumber } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";
import { fromTimestamp } from "../../rpc/wire/times.js";
import type { StoredFailure } from "../../store/storedFailure.js";
import type { StoredUsage } from "../../store/usage/storedUsage.js";
import { usageOf } from "./usageOf.js";
import { resultSchema } from "./resultSchema.js";

/** What a receipt means. */
export interface ResultJudgement {
  readonly outcome: "completed" | "failed" | "interrupted";
  readonly failure: StoredFailure | undefined;
  readonly usage: StoredUsage;
}

/** What the owner knows beside the receipt. */
export interface ResultContext {
  readonly sessionId: string;
  /** Failure to record where a Stop was latched and the turn says that it was interrupted. */
  readonly stopped: StoredFailure | undefined;
}

/**
 * Checks a receipt against every bound of the contract and reads its outcome: interrupted if it says so; else failed, if it
 * says so or carries any error text; else completed.
 * @throws RpcError WORKER_RESULT_INVALID naming the field.
 */
export function judgeResult(result: TurnResult, context: ResultContext): ResultJudgement {
  const checked = resultSchema.safeParse(result);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw invalid(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
  }
  if (result.sessionId !== undefined && result.sessionId !== "" && result.sessionId !== context.sessionId) {
    throw invalid("session_id: is another session's");
  }
  if (result.answer !== undefined && result.finalResponse !== "") {
    throw invalid("final_response: must be empty beside answer");
  }
  const outcome = outcomeOf(result);
  const usage = usageOf(result);
  return {
    outcome,
    failure: outcome === "completed" ? undefined : failureIn(result, outcome, context),
    usage: {
      inputTokens: toCount(usage.inputTokens),
      outputTokens: toCount(usage.outputTokens),
      cacheReadTokens: toCount(usage.cacheReadTokens),
      cacheWriteTokens: toCount(usage.cacheWriteTokens),
      reasoningTokens: toCount(usage.reasoningTokens),
      apiCalls: usage.apiCalls,
      costUsd: usage.estimatedCostUsd ?? 0,
    },
  };
}

function invalid(what: string): RpcError {
  return new RpcError("WORKER_RESULT_INVALID", { message: `The result of the worker breaks the contract: ${what}.` });
}

function outcomeOf(result: TurnResult): ResultJudgement["outcome"] {
  if (result.interrupted) return "interrupted";
  if (result.failed || (result.error !== undefined && result.error !== "")) return "failed";
  return "completed";
}

function failureIn(
  result: TurnResult,
  outcome: "failed" | "interrupted",
  context: ResultContext,
): StoredFailure | undefined {
  if (outcome === "interrupted") return context.stopped;
  const reason = failureReason(reasonOfNumber(result.failureReason) ?? "RUNTIME_FAILED", result.error ?? "");
  const entry = reasonEntry(reason);
  const resetsAt = fromTimestamp(result.failureResetsAt);
  return {
    reason,
    message: result.error === undefined || result.error === "" ? entry.message : result.error,
    hint: entry.hint,
    retryable: result.failureRetryable ?? entry.retryable,
    ...(resetsAt === undefined ? {} : { resetsAt }),
  };
}
