import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import type { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import { RpcError } from "../../rpc/rpcError.js";
import { failureOf } from "../../rpc/wire/failure.js";
import type { StoredFailure } from "../../store/storedFailure.js";
import { startStopLadder, type StopSteps } from "./stopLadder.js";
import { stopReason } from "./stopReason.js";

/** A latched Stop. */
export interface LatchedStop {
  readonly cause: StopCause;
  /** When the worker is killed at the latest, epoch milliseconds. */
  readonly killAt: number;
}

/** Keeps the first Stop of a turn and runs its ladder. */
export class StopLatch {
  readonly #clock: Clock;
  readonly #budgets: Pick<Budgets, "stopTermAfterMs" | "stopKillAfterMs">;
  readonly #first = createDeferred<void>();
  #latched: LatchedStop | undefined;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, budgets: Pick<Budgets, "stopTermAfterMs" | "stopKillAfterMs">) {
    this.#clock = clock;
    this.#budgets = budgets;
  }

  /** The Stop that stands; undefined where there was none. */
  get latched(): LatchedStop | undefined {
    return this.#latched;
  }

  /** What the turn's record gives as its failure where it ends by the Stop; undefined where there was none. */
  get failure(): StoredFailure | undefined {
    return this.#latched === undefined ? undefined : failureOf(new RpcError(stopReason(this.#latched.cause)));
  }

  /** Resolves with the first Stop. */
  get stopped(): Promise<void> {
    return this.#first.promise;
  }

  /**
   * Latches the first Stop and starts its ladder.
   * @param steps what ends a turn that runs; undefined where there is nothing to be asked.
   */
  latch(cause: StopCause, steps: StopSteps | undefined): LatchedStop {
    const { stopTermAfterMs: terminateAfterMs, stopKillAfterMs: killAfterMs } = this.#budgets;
    const killAt = this.#clock.now() + killAfterMs;
    if (steps !== undefined) this.#cancel = startStopLadder(this.#clock, { terminateAfterMs, killAfterMs }, steps);
    this.#latched = { cause, killAt };
    this.#first.resolve();
    return this.#latched;
  }

  /** Takes back the steps that are still to come; the Stop stays latched. */
  cancel(): void {
    this.#cancel();
  }
}
