import type { Logger } from "../../base/logger.js";
import type { RpcError } from "../../rpc/rpcError.js";
import { failureOf } from "../../rpc/wire/failure.js";
import { type ExecutionLossResult, loseExecution } from "../../store/turns/loseExecution.js";
import { persistently } from "./persistently.js";
import type { TurnParts } from "./turnParts.js";

/** The end of a turn that gave no result. */
export interface Loss {
  readonly executionId: string;
  readonly outcome: "failed" | "unknown" | "interrupted";
  readonly error: RpcError;
  /** Whether a Stop was latched. */
  readonly stopped: boolean;
}

/** Stores a loss. @returns undefined where the store is closed: the next start settles it then. */
export async function settleLoss(
  { store, clock }: Pick<TurnParts, "store" | "clock">,
  log: Logger,
  { executionId, outcome, error, stopped }: Loss,
): Promise<ExecutionLossResult | undefined> {
  try {
    return await persistently(clock, log, () =>
      store.writer.execute(loseExecution, {
        executionId,
        outcome,
        failure: failureOf(error),
        stopped,
        now: clock.now(),
      }),
    );
  } catch (failure) {
    log.error({ err: failure }, "a lost turn could not be settled; the next start will");
    return undefined;
  }
}
