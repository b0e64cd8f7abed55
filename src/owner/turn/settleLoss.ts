import type { Logger } from "../../base/logger.js";
import type { RpcError } from "../../rpc/rpcError.js";
import { failureOf } from "../../rpc/wire/failure.js";
import { type ExecutionLossResult, loseExecution } from "../../store/turns/loseExecution.js";
import { loseUsedExecution } from "../../store/turns/loseUsedExecution.js";
import type { HeardUsage } from "./heardUsage.js";
import { persistently } from "./persistently.js";
import type { TurnParts } from "./turnParts.js";

/** The end of a turn that gave no result. */
export interface Loss {
  readonly executionId: string;
  readonly outcome: "failed" | "unknown" | "interrupted";
  readonly error: RpcError;
  /** Whether a Stop was latched. */
  readonly stopped: boolean;
  /** What its worker said that it had used. */
  readonly usage: Pick<HeardUsage, "uncounted">;
}

/** Stores a loss, and what was used up to it. @returns undefined where the store is closed: the next start settles it then. */
export async function settleLoss(
  { store, clock }: Pick<TurnParts, "store" | "clock">,
  log: Logger,
  { executionId, outcome, error, stopped, usage }: Loss,
): Promise<ExecutionLossResult | undefined> {
  try {
    return await persistently(clock, log, () => {
      const loss = { executionId, outcome, failure: failureOf(error), stopped, now: clock.now() };
      // Looked at again with each try: a store operation may have counted a part meanwhile.
      const { uncounted } = usage;
      return uncounted === undefined
        ? store.writer.execute(loseExecution, loss)
        : store.writer.execute(loseUsedExecution, { ...loss, usage: uncounted });
    });
  } catch (failure) {
    log.error({ err: failure }, "a lost turn could not be settled; the next start will");
    return undefined;
  }
}
