import { createDeferred } from "../../base/deferred.js";
import type { Logger } from "../../base/logger.js";
import { CloseReason, StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import type { TurnResult } from "../../gen/talaria/types/v1/result.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import { failureOf } from "../../rpc/wire/failure.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import type { DeliveryEffects } from "../../store/deliveries/deliveryEffects.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { StoredFence } from "../../store/turns/fence.js";
import type { SlotMember } from "../admission/sharedSlot.js";
import { TurnTrace } from "../trace/turnTrace.js";
import type { WorkerFrame, WorkerLink } from "../attach/workerLink.js";
import { ChildDesk, type RunTurn } from "../children/childDesk.js";
import type { Launch } from "../launch/launch.js";
import type { ExecutionPhase, PhaseEvent } from "../phase/executionPhase.js";
import { mayReplace, nextPhase } from "../phase/executionPhase.js";
import { mayArrive } from "../phase/frameRules.js";
import { phaseOnWire } from "../phase/phaseOnWire.js";
import type { WorkerProgram } from "../pool/workerSpec.js";
import type { PromptDesk } from "../prompts/promptDesk.js";
import { readTurn } from "../records/readTurn.js";
import { judgeResult } from "../result/judgeResult.js";
import { announceEnd } from "./announceEnd.js";
import { assignTurn } from "./assignTurn.js";
import { childCause } from "./childCause.js";
import { exitError, lossError, saysNothing, workerError } from "./lossError.js";
import { leftBadly } from "./leftBadly.js";
import { lossOutcome } from "./lossOutcome.js";
import { OpenTools } from "./openTools.js";
import { PhaseTimes } from "./phaseTimes.js";
import { GroupLooks } from "./groupLooks.js";
import { HeardUsage } from "./heardUsage.js";
import { type LatchedStop, latchStop } from "./latchStop.js";
import { releaseTurn } from "./releaseTurn.js";
import { settleLoss } from "./settleLoss.js";
import { eventsUpdate } from "./shownEvents.js";
import { stopReason } from "./stopReason.js";
import { storeResult } from "./storeResult.js";
import { tellSoon } from "./tellSoon.js";
import { turnDesk } from "./turnDesk.js";
import { turnBounds } from "./turnBounds.js";
import type { TurnParts } from "./turnParts.js";
import { TurnWatch } from "./turnWatch.js";
import { viewedIn } from "./viewedIn.js";
import { WorkerForce } from "./workerForce.js";
import { type SeatTurn, WorkerSeat, type WorkPlace } from "./workerSeat.js";
import { RunningText } from "../watch/runningText.js";

/** What a turn is made of. */
export interface TurnRunOptions {
  readonly parts: TurnParts;
  readonly program: WorkerProgram;
  /** Its part of a worker slot. */
  readonly slot: SlotMember;
  readonly executionId: string;
  readonly claimed: ClaimedInput;
  /** Runs its child turns. */
  readonly runTurn: RunTurn;
}

/** One execution, from its claim to the proof that nothing of its processes is left. */
export class TurnRun {
  readonly fence: StoredFence;
  readonly claimed: ClaimedInput;
  readonly desk: PromptDesk;
  readonly children: ChildDesk;
  readonly runningText = new RunningText();
  readonly usage = new HeardUsage();
  readonly times: PhaseTimes;
  /** Resolves once no later start can run a stopped turn; false where the store was closed before its outcome was stored. */
  stopKept = Promise.resolve(true);
  readonly #parts: TurnParts;
  readonly #program: WorkerProgram;
  readonly #log: Logger;
  readonly #slot: SlotMember;
  readonly #seat: WorkerSeat;
  readonly #force: WorkerForce;
  readonly #trace: TurnTrace;
  readonly #looks: GroupLooks;
  readonly #tools = new OpenTools();
  readonly #over = createDeferred<void>();
  readonly #stopped = createDeferred<void>();
  #phase: ExecutionPhase = "spawned";
  #watch: TurnWatch | undefined;
  #stop: LatchedStop | undefined;
  /** The receipt on its way to the store: from here on only its refusal leaves the outcome open. */
  #commit: Promise<DeliveryEffects> | undefined;
  #outcomeFixed = false;
  #finishedSeen = false;
  #cancelLeave: () => void = () => undefined;

  constructor({ parts, program, slot, executionId, claimed, runTurn }: TurnRunOptions) {
    this.#parts = parts;
    this.#program = program;
    this.claimed = claimed;
    this.times = new PhaseTimes(parts.clock, claimed.input);
    this.fence = { executionId, epoch: parts.store.epoch, generation: claimed.generation };
    this.#trace = new TurnTrace(parts, executionId, claimed);
    this.#slot = slot;
    this.#looks = new GroupLooks(parts.clock, parts.budgets.heartbeatIntervalMs / 2, claimed);
    this.#log = parts.log.child({ execution: executionId, agent: claimed.agent });
    this.#force = new WorkerForce(this, this.#log);
    this.#seat = new WorkerSeat({ parts, program, claimed, log: this.#log, turn: this.#seatTurn() });
    const { store, clock, listeners } = parts;
    this.children = new ChildDesk({ store, clock, listeners, log: this.#log, slot, runTurn });
    this.desk = turnDesk(parts, {
      claimed,
      shownIn: viewedIn(store.reader, claimed),
      fence: this.fence,
      slot,
      send: (frame) => this.link?.send(frame),
      onChange: () => this.#watch?.progress(),
    });
  }

  /** Where the worker stands. */
  get phase(): ExecutionPhase {
    return this.#phase;
  }

  /** The launched process, once there is one. */
  get launch(): Launch | undefined {
    return this.#seat.launch;
  }

  /** The proved worker, once there is one. */
  get link(): WorkerLink | undefined {
    return this.#seat.link;
  }

  /** Runs the turn to its outcome and to the end of its processes. Rejects only where the store is closed. */
  async run(): Promise<void> {
    const { hub, store } = this.#parts;
    const turn = readTurn(store.reader, this.claimed.input.input_id);
    if (turn !== undefined) hub.publish(this.#sessionId, { $case: "turnStarted", value: { turn } });
    try {
      await this.#seat.fill();
      await this.#over.promise;
    } catch (caught) {
      await this.#lose(caught);
    }
    await this.#cleanUp();
  }

  /** Latches a Stop; repeats keep the first one's times. Undefined where the worker has given its result, or none is to come. */
  stop(cause: StopCause): { readonly already: boolean; readonly killAt: number } | undefined {
    if (this.#outcomeFixed || this.#commit !== undefined) return undefined;
    if (this.#stop !== undefined) return { already: true, killAt: this.#stop.killAt };
    const { clock, budgets } = this.#parts;
    const running = this.#phase === "running";
    this.#stop = latchStop(clock, budgets, cause, running ? this.#force.steps(cause) : undefined);
    this.children.close(childCause(cause));
    this.#log.info({ cause, phase: this.#phase }, "stop latched");
    void this.desk.endAll("stopped").catch((error: unknown) => {
      this.#log.error({ err: error }, "prompts of a stopped turn could not be ended");
    });
    this.#stopped.resolve();
    if (!running) this.stopKept = this.#lose(new RpcError(stopReason(cause)));
    return { already: false, killAt: this.#stop.killAt };
  }

  /** Says that the assignment is adopted, also again. @throws RpcError FRAME_OUT_OF_PHASE; EXECUTION_ENDED where it is too late. */
  adopted(): void {
    // With its result given, a worker still has its store stream to end.
    if (this.#phase === "result" || this.#phase === "finishing") return;
    if (this.#outcomeFixed) throw new RpcError("EXECUTION_ENDED");
    this.#move("adopt", "adopt");
  }

  /** Tells the worker that the gateway is going down. */
  announceDrain(stopAtMs: number): void {
    this.link?.send({ $case: "draining", value: { stopAt: toTimestamp(stopAtMs) } });
  }

  get #sessionId(): string {
    return this.claimed.input.session_id;
  }

  #seatTurn(): SeatTurn {
    return {
      settled: () => this.#outcomeFixed,
      untouched: () => mayReplace(this.#phase),
      stopped: this.#stopped.promise,
      over: this.#over.promise,
      proved: (pooled) => {
        this.#move("prove", "hello");
        if (pooled) this.#move("exercise", "dry_run");
      },
      assign: (link, place) => this.#assign(link, place),
      frame: (frame) => this.#onFrame(frame),
      vacated: () => {
        this.#watch?.stop();
        this.#watch = undefined;
        this.#phase = "spawned";
        this.times.enter("spawned");
      },
      ended: (launch, error) => {
        this.#streamEnded(launch, error);
      },
      failed: async (error) => {
        await this.#lose(error);
      },
    };
  }

  async #assign(link: WorkerLink, place: WorkPlace): Promise<void> {
    const { claimed, fence } = this;
    const { environment } = this.#program;
    const bootstrap = await assignTurn(this.#parts, {
      claimed,
      fence,
      environment,
      link,
      place,
      trace: this.#trace.worker,
    });
    if (this.#outcomeFixed || link !== this.link) return;
    this.#move("bootstrap", "bootstrap");
    this.#trace.assigned();
    link.send({ $case: "bootstrap", value: bootstrap });
    // From here on the worker owes heartbeats, also if it never becomes ready.
    this.#watch = new TurnWatch(this.#parts.clock, turnBounds(this.claimed, this.#parts.budgets), {
      turnLimit: () => this.stop(StopCause.STOP_CAUSE_TURN_LIMIT),
      idle: () => this.stop(StopCause.STOP_CAUSE_IDLE),
      heartbeatMissed: () => {
        this.#force.kill("HEARTBEAT_MISSED");
      },
      isWaiting: () => this.#tools.count + this.desk.openCount + this.children.openCount > 0,
    });
  }

  #onFrame(frame: WorkerFrame): Promise<void> | void {
    if (!mayArrive(this.#phase, frame.$case)) {
      throw reasonError("FRAME_OUT_OF_PHASE", { frame: frame.$case, phase: this.#phase });
    }
    const { hub, secrets } = this.#parts;
    this.#watch?.frame();
    this.#trace.frame(frame);
    switch (frame.$case) {
      case "ready":
        this.#ready(frame.value.pid);
        return;
      case "events":
        this.#tools.add(frame.value.events);
        this.runningText.add(frame.value.events);
        this.#watch?.progress();
        hub.publish(this.#sessionId, eventsUpdate(this.fence.executionId, frame.value.events, secrets));
        return;
      case "approval":
      case "clarify":
        this.#watch?.progress();
        return this.desk.raise(frame);
      case "promptSettled":
        return this.desk.settledByWorker(frame.value);
      case "result":
        if (frame.value.result === undefined) throw new RpcError("WORKER_RESULT_INVALID");
        return this.#result(frame.value.result);
      case "finished":
        this.#finishedSeen = true;
        this.#leaveWithin(this.#parts.budgets.exitAfterFinishedMs);
        return;
      case "error":
        void this.#lose(workerError(frame.value));
        return;
      case "heartbeat":
        this.usage.hear(frame.value.usage);
        if (this.#looks.look(this.launch)) this.stop(StopCause.STOP_CAUSE_MEMORY);
        return;
      case "hello":
      case "dryRunDone":
      case "modelCalled":
        return;
    }
  }

  #ready(pid: number): void {
    if (pid !== this.link?.evidence.process.pid) throw new RpcError("WORKER_PID_MISMATCH");
    this.#move("ready", "ready");
    this.#watch?.progress();
  }

  async #result(result: TurnResult): Promise<void> {
    const { budgets, listeners } = this.#parts;
    const stopped = this.#stop === undefined ? undefined : failureOf(new RpcError(stopReason(this.#stop.cause)));
    const judgement = judgeResult(result, { sessionId: this.#sessionId, stopped });
    this.#move("result", "result");
    this.#stop?.cancel();
    this.#watch?.stop();
    this.#commit = storeResult(this.#parts, this.#log, {
      fence: this.fence,
      agent: this.claimed.agent,
      result,
      judgement,
      stopped: stopped !== undefined,
    });
    const effects = await this.#commit;
    this.#outcomeFixed = true;
    this.#settled();
    listeners.effects(effects);
    this.#move("finish", "finish");
    this.link?.send({ $case: "finish", value: {} });
    this.#leaveWithin(budgets.finishWaitMs);
  }

  /** Gives a worker whose outcome is fixed this long to be gone. */
  #leaveWithin(ms: number): void {
    this.#cancelLeave();
    this.#cancelLeave = this.#parts.clock.after(ms, () => {
      this.#log.warn({ phase: this.#phase }, "a worker did not leave in time");
      this.#over.resolve();
    });
  }

  #streamEnded(launch: Launch, error: RpcError | undefined): void {
    if (!this.#outcomeFixed) {
      const { reason } = this.#force;
      const cause = error === undefined || saysNothing(error) ? exitError(launch.exit) : error;
      void this.#lose(reason === undefined ? cause : new RpcError(reason));
      return;
    }
    if (this.#phase !== "finishing" || !this.#finishedSeen) {
      this.#over.resolve();
      return;
    }
    // It said that it has finished: it has its time to leave, and how it leaves is part of that.
    void launch.exited.then((exit) => {
      if (this.#phase === "finishing" && exit.code === 0) this.#move("leave", "exit");
      else if (this.#phase === "finishing") leftBadly(this.#parts, this.#log, this.claimed, exitError(exit));
      this.#over.resolve();
    });
  }

  /** Settles a turn that gave no result; the first settlement stands. False where it could not be stored. */
  async #lose(caught: unknown): Promise<boolean> {
    if (this.#commit !== undefined) await this.#commit.catch(() => undefined);
    if (this.#outcomeFixed) {
      // The receipt was kept although its worker has gone: nothing more is to come.
      if (this.#commit !== undefined) this.#over.resolve();
      return true;
    }
    this.#outcomeFixed = true;
    const { listeners } = this.#parts;
    const error = lossError(caught);
    const outcome = lossOutcome({
      phase: this.#phase,
      stopped: this.#stop !== undefined,
      toolOpen: this.#tools.count > 0,
      ownerDied: false,
    });
    this.#log.warn({ reason: error.reason, outcome, phase: this.#phase, err: error }, "turn ended without a result");
    this.#phase = outcome === "interrupted" ? "interrupted" : "lost";
    this.times.enter(this.#phase);
    const stopped = this.#stop !== undefined;
    const loss = { executionId: this.fence.executionId, outcome, error, stopped, usage: this.usage };
    const settled = await settleLoss(this.#parts, this.#log, loss);
    if (settled !== undefined) this.#settled();
    if (settled?.kind === "lost") {
      listeners.effects(settled.effects);
      if (outcome === "unknown") tellSoon(this.#parts, this.#log, this.claimed.input.input_id);
    }
    this.link?.close(
      outcome === "interrupted" ? CloseReason.CLOSE_REASON_STOPPED : CloseReason.CLOSE_REASON_PROTOCOL,
      error,
    );
    this.#over.resolve();
    return settled !== undefined;
  }

  #settled(): void {
    this.children.close(StopCause.STOP_CAUSE_PARENT_ENDED);
    this.desk.executionEnded();
    this.#trace.settled();
    announceEnd(this.#parts, this.claimed);
  }

  async #cleanUp(): Promise<void> {
    this.#stop?.cancel();
    this.#watch?.stop();
    this.#cancelLeave();
    this.children.close(StopCause.STOP_CAUSE_PARENT_ENDED);
    await this.#seat.clear(this.#phase === "lost");
    await this.children.retired();
    this.#slot.leave();
    await releaseTurn(this.#parts, this.#log, this.fence.executionId);
    this.#trace.ended();
  }

  #move(event: PhaseEvent, frame: string): void {
    const next = nextPhase(this.#phase, event);
    if (next === undefined) throw reasonError("FRAME_OUT_OF_PHASE", { frame, phase: this.#phase });
    const shown = phaseOnWire(this.#phase);
    this.#phase = next;
    this.times.enter(next);
    if (phaseOnWire(next) === shown) return;
    const value = { executionId: this.fence.executionId, phase: phaseOnWire(next) };
    this.#parts.hub.publish(this.#sessionId, { $case: "phaseChanged", value });
  }
}
