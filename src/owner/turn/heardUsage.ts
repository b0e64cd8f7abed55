import { LIMITS } from "../../base/limits.js";
import { toCount } from "../../base/toCount.js";
import type { Usage } from "../../gen/talaria/types/v1/result.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { StoredUsage } from "../../store/usage/storedUsage.js";

/** What a store operation has counted of a turn's own model calls. */
export type CountedUsage = Pick<StoredUsage, "inputTokens" | "outputTokens" | "apiCalls" | "costUsd">;

const MAX_COUNTER = BigInt(LIMITS.counter);
const NOTHING_TO_TAKE_BACK = (): void => undefined;

/** What a turn is known to have used before it gives its receipt, which alone counts where there is one. */
export class HeardUsage {
  readonly #counted = new Map<number, CountedUsage>();
  #heard: StoredUsage | undefined;

  /** Takes in what a worker says that its turn has used so far. @throws RpcError FRAME_INVALID for what is out of bounds. */
  hear(usage: Usage | undefined): void {
    if (usage === undefined) return;
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, apiCalls } = usage;
    const counters = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens];
    const costUsd = usage.estimatedCostUsd ?? 0;
    if (counters.some((one) => one > MAX_COUNTER) || !(costUsd >= 0 && costUsd <= LIMITS.costUsd)) {
      throw new RpcError("FRAME_INVALID", { message: "A heartbeat's usage is out of its bounds." });
    }
    this.#heard = {
      inputTokens: toCount(inputTokens),
      outputTokens: toCount(outputTokens),
      cacheReadTokens: toCount(cacheReadTokens),
      cacheWriteTokens: toCount(cacheWriteTokens),
      reasoningTokens: toCount(reasoningTokens),
      apiCalls,
      costUsd,
    };
  }

  /**
   * Says that an operation is about to count a part, before its commit: a loss that is queued behind it must know.
   * @param sequence the operation's, under which it counts once however often it comes
   * @returns what takes it back where the operation was refused.
   */
  count(sequence: number, usage: CountedUsage): () => void {
    if (this.#counted.has(sequence)) return NOTHING_TO_TAKE_BACK;
    this.#counted.set(sequence, usage);
    return () => void this.#counted.delete(sequence);
  }

  /** What was heard and no operation has counted; undefined where nothing was heard. */
  get uncounted(): StoredUsage | undefined {
    if (this.#heard === undefined) return undefined;
    let left = this.#heard;
    for (const { inputTokens, outputTokens, apiCalls, costUsd } of this.#counted.values()) {
      left = {
        ...left,
        inputTokens: Math.max(0, left.inputTokens - inputTokens),
        outputTokens: Math.max(0, left.outputTokens - outputTokens),
        apiCalls: Math.max(0, left.apiCalls - apiCalls),
        costUsd: Math.max(0, left.costUsd - costUsd),
      };
    }
    return left;
  }
}
