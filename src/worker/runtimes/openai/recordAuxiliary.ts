import type { TurnStore } from "../../turnContext.js";
import { usageRecord, type UsedModel } from "../../usageRecord.js";
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
  take(): UsedModel {
    const totals = this.#totals;
    this.#totals = NO_USAGE;
    return { totals, provider: this.#provider, model: this.#model };
  }
}

/** Writes what was counted, under what it was for. @returns the session's revision after it. @throws RpcError. */
export async function recordAuxiliary(store: TurnStore, calls: AuxiliaryCalls, purpose: string): Promise<bigint> {
  const value = usageRecord(calls.take(), purpose);
  const { sessionRevision } = await store.persist({ $case: "recordAuxiliaryUsage", value });
  return sessionRevision;
}
