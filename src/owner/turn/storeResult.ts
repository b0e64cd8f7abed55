import type { Logger } from "../../base/logger.js";
import { TurnResult } from "../../gen/talaria/types/v1/result.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { DeliveryEffects } from "../../store/deliveries/deliveryEffects.js";
import { commitResult } from "../../store/turns/commitResult.js";
import type { StoredFence } from "../../store/turns/fence.js";
import type { ResultJudgement } from "../result/judgeResult.js";
import { fenceError } from "../store/fenceError.js";
import { agentAuthor } from "./agentAuthor.js";
import { persistently } from "./persistently.js";
import type { TurnParts } from "./turnParts.js";

/** A judged receipt of one execution. */
export interface ResultToStore {
  readonly fence: StoredFence;
  readonly agent: string;
  readonly result: TurnResult;
  readonly judgement: ResultJudgement;
  /** Whether a Stop was latched. */
  readonly stopped: boolean;
}

/**
 * Commits a receipt: from here on the turn has its outcome.
 * @throws RpcError WORKER_RESULT_INVALID where the chunks of the answer are not the answer; the fence's reason where it is stale.
 */
export async function storeResult(
  { store, clock }: Pick<TurnParts, "store" | "clock">,
  log: Logger,
  { fence, agent, result, judgement, stopped }: ResultToStore,
): Promise<DeliveryEffects> {
  const committed = await persistently(clock, log, () =>
    store.writer.execute(commitResult, {
      fence,
      epoch: fence.epoch,
      outcome: judgement.outcome,
      stopped,
      ...(judgement.failure === undefined ? {} : { failure: judgement.failure }),
      result: TurnResult.encode(result).finish(),
      answer: result.finalResponse,
      ...(result.answer === undefined ? {} : { chunkedAnswerSha256: result.answer.sha256 }),
      usage: judgement.usage,
      author: agentAuthor(agent),
      now: clock.now(),
    }),
  );
  switch (committed.kind) {
    case "committed":
      return committed.effects;
    case "answer_mismatch":
      throw new RpcError("WORKER_RESULT_INVALID", { message: "The chunks of the answer do not have its digest." });
    case "stale":
      throw fenceError(committed.problem);
  }
}
