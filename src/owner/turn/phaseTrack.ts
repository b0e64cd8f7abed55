import { reasonError, RpcError } from "../../rpc/rpcError.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import { type ExecutionPhase, isEnded, nextPhase, type PhaseEvent } from "../phase/executionPhase.js";
import { mayArrive, type WorkerFrameKind } from "../phase/frameRules.js";
import { phaseOnWire } from "../phase/phaseOnWire.js";
import { PhaseTimes, type TurnTimes } from "./phaseTimes.js";
import type { TurnParts } from "./turnParts.js";

/** The way of one turn's worker through its phases: what may come in each, how long each took, and what viewers are told of it. */
export class PhaseTrack {
  readonly #hub: Pick<TurnParts["hub"], "publish">;
  readonly #executionId: string;
  readonly #sessionId: string;
  readonly #times: PhaseTimes;
  #phase: ExecutionPhase = "spawned";

  /** Begins as the input leaves its queue. */
  constructor(
    { clock, hub }: { readonly clock: TurnParts["clock"]; readonly hub: Pick<TurnParts["hub"], "publish"> },
    executionId: string,
    { input }: { readonly input: Pick<ClaimedInput["input"], "session_id" | "queued_at" | "started_at"> },
  ) {
    this.#hub = hub;
    this.#executionId = executionId;
    this.#sessionId = input.session_id;
    this.#times = new PhaseTimes(clock, input);
  }

  /** Where the worker stands. */
  get phase(): ExecutionPhase {
    return this.#phase;
  }

  /** Lets a frame in. @throws RpcError FRAME_OUT_OF_PHASE. */
  admit(frame: WorkerFrameKind): void {
    if (!mayArrive(this.#phase, frame)) throw this.#outOfPhase(frame);
  }

  /** Goes on by an event. @param frame what brought it, for the refusal. @throws RpcError FRAME_OUT_OF_PHASE. */
  move(event: PhaseEvent, frame: string): void {
    const next = nextPhase(this.#phase, event);
    if (next === undefined) throw this.#outOfPhase(frame);
    const shown = phaseOnWire(this.#phase);
    this.#enter(next);
    if (phaseOnWire(next) === shown) return;
    const value = { executionId: this.#executionId, phase: phaseOnWire(next) };
    this.#hub.publish(this.#sessionId, { $case: "phaseChanged", value });
  }

  /** The assignment is adopted, also again. @throws RpcError FRAME_OUT_OF_PHASE; EXECUTION_ENDED where it is too late. */
  adopt(): void {
    // With its result given, a worker still has its store stream to end.
    if (this.#phase === "result" || this.#phase === "finishing") return;
    if (isEnded(this.#phase)) throw new RpcError("EXECUTION_ENDED");
    this.move("adopt", "adopt");
  }

  /** Begins again for another worker. Viewers see its next phase. */
  restart(): void {
    this.#enter("spawned");
  }

  /** Ends without a result. Viewers are told with the outcome, once that is stored. */
  end(phase: "interrupted" | "lost"): void {
    this.#enter(phase);
  }

  /** The times of a turn of which nothing is left. */
  times(): TurnTimes {
    return this.#times.end();
  }

  #enter(phase: ExecutionPhase): void {
    this.#phase = phase;
    this.#times.enter(phase);
  }

  #outOfPhase(frame: string): RpcError {
    return reasonError("FRAME_OUT_OF_PHASE", { frame, phase: this.#phase });
  }
}
