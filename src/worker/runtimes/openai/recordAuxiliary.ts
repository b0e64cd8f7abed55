import type { TurnStore } from "../../turnContext.js";
import { addUsage, NO_USAGE, type UsageTotals } from "../../usageTally.js";
import type { ModelEndpoint } from "./modelEndpoint.js";
import type { AnswerUsage } from "./streamAnswer.js";
import { usageReportOf } from "./usageReportOf.js";

/** Counts requests that serve the session and are not the turn's own, until they are recorded. */
export class AuxiliaryCalls {
  #totals: UsageTotals = NO_USAGE;
  #provider = "";
  #model = "";

  /** Counts one. */
  add(usage: AnswerUsage | undefined, { ref }: ModelEndpoint): void {
    this.#totals = addUsage(this.#totals, usageReportOf(usage));
    this.#provider = ref.provider;
    this.#model = ref.model;
  }

  /** What was counted since the last time. */
  take(): { readonly totals: UsageTotals; readonly provider: string; readonly model: string } {
    const totals = this.#totals;
    this.#totals = NO_USAGE;
    return { totals, provider: this.#provider, model: this.#model };
  }
}

/** Writes what was counted, under what it was for. @returns the session's revision after it. @throws RpcError. */
export async function recordAuxiliary(store: TurnStore, calls: AuxiliaryCalls, purpose: string): Promise<bigint> {
  const { totals, provider, model } = calls.take();
  const { sessionRevision } = await store.persist({
    $case: "recordAuxiliaryUsage",
    value: {
      provider,
      model,
      purpose,
      inputTokens: BigInt(totals.inputTokens),
      outputTokens: BigInt(totals.outputTokens),
      cacheReadTokens: BigInt(totals.cacheReadTokens),
      cacheWriteTokens: BigInt(totals.cacheWriteTokens),
      reasoningTokens: BigInt(totals.reasoningTokens),
      apiCalls: totals.apiCalls,
      estimatedCostUsd: totals.costUsd,
    },
  });
  return sessionRevision;
}
