import { createDeferred } from "../../base/deferred.js";
import type { Logger } from "../../base/logger.js";
import type { TurnResult } from "../../gen/talaria/types/v1/result.js";
import type { DeliveryEffects } from "../../store/deliveries/deliveryEffects.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { StoredFence } from "../../store/turns/fence.js";
import type { ResultJudgement } from "../result/judgeResult.js";
import { announceEnd } from "./announceTurn.js";
import { type Loss, settleLoss } from "./settleLoss.js";
import { storeResult } from "./storeResult.js";
import { tellSoon } from "./tellSoon.js";
import type { TurnParts } from "./turnParts.js";

/** What settling works with. */
export type SettlementParts = Pick<TurnParts, "store" | "clock" | "hub" | "listeners">;

/** The turn that is settled. */
export interface SettledTurn {
  readonly claimed: ClaimedInput;
  readonly fence: StoredFence;
  /** Called once its outcome is stored, before anybody is told of it. */
  readonly stored: () => void;
}

/** A receipt, and what it was found to mean. */
export interface JudgedReceipt {
  readonly result: TurnResult;
  readonly judgement: ResultJudgement;
  /** Whether a Stop was latched. */
  readonly stopped: boolean;
}

type SettlementState =
  | { readonly kind: "open" }
  /** The receipt is on its way to the store: only its refusal leaves the outcome open. */
  | { readonly kind: "committing"; readonly commit: Promise<DeliveryEffects> }
  | { readonly kind: "kept" }
  | { readonly kind: "lost" };

/** The one outcome of a turn: its receipt's or its loss's, whichever is fixed first. Stores it and tells of it. */
export class Settlement {
  readonly #parts: SettlementParts;
  readonly #log: Logger;
  readonly #turn: SettledTurn;
  readonly #settled = createDeferred<"stored" | "left">();
  #state: SettlementState = { kind: "open" };

  constructor(parts: SettlementParts, log: Logger, turn: SettledTurn) {
    this.#parts = parts;
    this.#log = log;
    this.#turn = turn;
  }

  /** Whether neither a receipt nor a loss has come; false for good once one has. */
  get open(): boolean {
    return this.#state.kind === "open";
  }

  /** Whether there is an outcome that nothing can change any more; that of a loss may still have to be stored. */
  get fixed(): boolean {
    return this.#state.kind === "kept" || this.#state.kind === "lost";
  }

  /** Resolves once the outcome is stored, or `left` to the next start, which looks at the evidence, because the store is closed. */
  get settled(): Promise<"stored" | "left"> {
    return this.#settled.promise;
  }

  /**
   * Keeps the receipt: from here on the turn has its outcome. A refused one is for its caller to lose the turn by.
   * @throws RpcError WORKER_RESULT_INVALID where the chunks of the answer are not the answer; the fence's reason where it is stale.
   */
  async keep(receipt: JudgedReceipt): Promise<void> {
    const { claimed, fence } = this.#turn;
    const commit = storeResult(this.#parts, this.#log, { fence, agent: claimed.agent, ...receipt });
    this.#state = { kind: "committing", commit };
    const effects = await commit;
    this.#state = { kind: "kept" };
    this.#stored();
    this.#parts.listeners.effects(effects);
  }

  /**
   * Loses the turn, where neither its receipt nor an earlier loss stands.
   * @param lossNow asked once the loss is fixed, and only then
   * @returns what stands: the receipt, an earlier loss, or this one, stored or left to the next start because the store is closed.
   */
  async lose(lossNow: () => Loss): Promise<"receipt" | "earlier_loss" | "stored" | "left"> {
    if (this.#state.kind === "committing") await this.#state.commit.catch(() => undefined);
    if (this.fixed) return this.#state.kind === "kept" ? "receipt" : "earlier_loss";
    this.#state = { kind: "lost" };
    const loss = lossNow();
    const settled = await settleLoss(this.#parts, this.#log, loss);
    if (settled === undefined) {
      this.#settled.resolve("left");
      return "left";
    }
    this.#stored();
    if (settled.kind === "lost") {
      this.#parts.listeners.effects(settled.effects);
      if (loss.outcome === "unknown") tellSoon(this.#parts, this.#log, this.#turn.claimed.input.input_id);
    }
    return "stored";
  }

  #stored(): void {
    this.#settled.resolve("stored");
    this.#turn.stored();
    announceEnd(this.#parts, this.#turn.claimed);
  }
}
