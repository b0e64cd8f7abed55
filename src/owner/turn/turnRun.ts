import type { Logger } from "../../base/logger.js";
import { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import type { TurnResult } from "../../gen/talaria/types/v1/result.js";
import { RpcError } from "../../rpc/rpcError.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { StoredFence } from "../../store/turns/fence.js";
import type { SlotMember } from "../admission/sharedSlot.js";
import type { WorkerFrame, WorkerLink } from "../attach/workerLink.js";
import { ChildDesk, type RunTurn } from "../children/childDesk.js";
import type { Launch } from "../launch/launch.js";
import type { ExecutionPhase } from "../phase/executionPhase.js";
import type { WorkerProgram } from "../pool/workerSpec.js";
import type { PromptDesk } from "../prompts/promptDesk.js";
import { judgeResult } from "../result/judgeResult.js";
import { TurnTrace } from "../trace/turnTrace.js";
import { announceStart } from "./announceTurn.js";
import { assignTurn } from "./assignTurn.js";
import { childCause } from "./childCause.js";
import { closeReason } from "./closeReason.js";
import { GroupLooks } from "./groupLooks.js";
import { HeardEvents } from "./heardEvents.js";
import { HeardUsage } from "./heardUsage.js";
import { endCause, lossError, workerError } from "./lossError.js";
import { lossOutcome } from "./lossOutcome.js";
import type { TurnTimes } from "./phaseTimes.js";
import { PhaseTrack } from "./phaseTrack.js";
import { releaseTurn } from "./releaseTurn.js";
import { Settlement } from "./settlement.js";
import type { Loss } from "./settleLoss.js";
import { StopLatch } from "./stopLatch.js";
import { stopReason } from "./stopReason.js";
import { turnBounds } from "./turnBounds.js";
import { turnDesk } from "./turnDesk.js";
import type { TurnParts } from "./turnParts.js";
import { TurnWatch } from "./turnWatch.js";
import { WorkerForce } from "./workerForce.js";
import { WorkerLeave } from "./workerLeave.js";
import { type SeatTurn, WorkerSeat, type WorkPlace } from "./workerSeat.js";

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
  readonly events: HeardEvents;
  readonly usage = new HeardUsage();
  /** Resolves once no later start can run a stopped turn; false where the store was closed before its outcome was stored. */
  stopKept = Promise.resolve(true);
  readonly #parts: TurnParts;
  readonly #log: Logger;
  readonly #slot: SlotMember;
  readonly #track: PhaseTrack;
  readonly #trace: TurnTrace;
  readonly #seat: WorkerSeat;
  readonly #force: WorkerForce;
  readonly #looks: GroupLooks;
  readonly #stop: StopLatch;
  readonly #settlement: Settlement;
  readonly #leave: WorkerLeave;
  #watch: TurnWatch | undefined;

  constructor({ parts, program, slot, executionId, claimed, runTurn }: TurnRunOptions) {
    const { store, clock, budgets, listeners } = parts;
    const fence = { executionId, epoch: store.epoch, generation: claimed.generation };
    this.#parts = parts;
    this.#slot = slot;
    this.claimed = claimed;
    this.fence = fence;
    this.#log = parts.log.child({ execution: executionId, agent: claimed.agent });
    this.#track = new PhaseTrack(parts, executionId, claimed);
    this.#trace = new TurnTrace(parts, executionId, claimed);
    this.events = new HeardEvents(parts, executionId, claimed.input.session_id);
    this.#looks = new GroupLooks(clock, budgets.heartbeatIntervalMs / 2, claimed);
    this.#stop = new StopLatch(clock, budgets);
    const stored = this.#outcomeStored.bind(this);
    this.#settlement = new Settlement(parts, this.#log, { claimed, fence, stored });
    this.#leave = new WorkerLeave(parts, this.#log, claimed.agent, this.#track);
    this.#force = new WorkerForce(this, this.#log);
    const turn = this.#seatTurn();
    this.#seat = new WorkerSeat({ parts, program, claimed, log: this.#log, track: this.#track, turn });
    this.children = new ChildDesk({ store, clock, listeners, log: this.#log, slot, runTurn });
    this.desk = turnDesk(parts, {
      claimed,
      fence,
      slot,
      send: (frame) => this.link?.send(frame),
      onChange: () => this.#watch?.progress(),
    });
  }

  /** Where the worker stands. */
  get phase(): ExecutionPhase {
    return this.#track.phase;
  }

  /** The launched process, once there is one. */
  get launch(): Launch | undefined {
    return this.#seat.launch;
  }

  /** The proved worker, once there is one. */
  get link(): WorkerLink | undefined {
    return this.#seat.link;
  }

  /** Runs the turn to its outcome and to the end of its processes. Rejects only where the store is closed. @returns its times. */
  async run(): Promise<TurnTimes> {
    announceStart(this.#parts, this.claimed);
    try {
      await this.#seat.fill();
      await this.#leave.over;
    } catch (caught) {
      await this.#lose(caught);
    }
    await this.#cleanUp();
    return this.#track.times();
  }

  /** Latches a Stop; repeats keep the first one's times. Undefined where the worker has given its result, or none is to come. */
  stop(cause: StopCause): { readonly already: boolean; readonly killAt: number } | undefined {
    if (!this.#settlement.open) return undefined;
    const { latched } = this.#stop;
    if (latched !== undefined) return { already: true, killAt: latched.killAt };
    const running = this.phase === "running";
    const { killAt } = this.#stop.latch(cause, running ? this.#force.steps(cause) : undefined);
    this.children.close(childCause(cause));
    this.#log.info({ cause, phase: this.phase }, "stop latched");
    void this.desk.close("stopped").catch((error: unknown) => {
      this.#log.error({ err: error }, "prompts of a stopped turn could not be ended");
    });
    if (!running) this.stopKept = this.#lose(new RpcError(stopReason(cause)));
    return { already: false, killAt };
  }

  /** Says that the assignment is adopted, also again. @throws RpcError FRAME_OUT_OF_PHASE; EXECUTION_ENDED where it is too late. */
  adopted(): void {
    this.#track.adopt();
  }

  /** Tells the worker that the gateway is going down. */
  announceDrain(stopAtMs: number): void {
    this.link?.send({ $case: "draining", value: { stopAt: toTimestamp(stopAtMs) } });
  }

  #seatTurn(): SeatTurn {
    return {
      settled: () => this.#settlement.fixed,
      stopped: this.#stop.stopped,
      over: this.#leave.over,
      assign: (link, place) => this.#assign(link, place),
      frame: (frame) => this.#onFrame(frame),
      vacated: () => {
        this.#watch?.stop();
        this.#watch = undefined;
      },
      ended: (launch, error) => {
        if (this.#settlement.fixed) this.#leave.streamEnded(launch);
        else void this.#lose(endCause(this.#force.reason, error, launch.exit));
      },
      failed: (error) => this.#lose(error),
    };
  }

  async #assign(link: WorkerLink, place: WorkPlace): Promise<void> {
    const { claimed, fence } = this;
    const bootstrap = await assignTurn(this.#parts, { claimed, fence, link, place, trace: this.#trace.worker });
    if (bootstrap.headless) await this.desk.close("headless");
    if (this.#settlement.fixed || link !== this.link) return;
    this.#track.move("bootstrap", "bootstrap");
    this.#trace.assigned();
    link.send({ $case: "bootstrap", value: bootstrap });
    // From here on the worker owes heartbeats, also if it never becomes ready.
    this.#watch = new TurnWatch(this.#parts.clock, turnBounds(claimed, this.#parts.budgets), {
      turnLimit: () => this.stop(StopCause.STOP_CAUSE_TURN_LIMIT),
      idle: () => this.stop(StopCause.STOP_CAUSE_IDLE),
      heartbeatMissed: () => {
        this.#force.kill("HEARTBEAT_MISSED");
      },
      isWaiting: () => this.events.openTools + this.desk.openCount + this.children.openCount > 0,
    });
  }

  #onFrame(frame: WorkerFrame): Promise<void> | void {
    this.#track.admit(frame.$case);
    this.#watch?.frame();
    this.#trace.frame(frame);
    switch (frame.$case) {
      case "ready":
        if (frame.value.pid !== this.link?.evidence.process.pid) throw new RpcError("WORKER_PID_MISMATCH");
        this.#track.move("ready", "ready");
        this.#watch?.progress();
        return;
      case "events":
        this.events.hear(frame.value.events);
        this.#watch?.progress();
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
        this.#leave.finished();
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

  async #result(result: TurnResult): Promise<void> {
    const stopped = this.#stop.failure;
    const judgement = judgeResult(result, { sessionId: this.claimed.input.session_id, stopped });
    this.#track.move("result", "result");
    this.#stop.cancel();
    this.#watch?.stop();
    await this.#settlement.keep({ result, judgement, stopped: stopped !== undefined });
    this.#track.move("finish", "finish");
    this.link?.send({ $case: "finish", value: {} });
    this.#leave.asked();
  }

  /** Settles a turn that gave no result; the first settlement stands. False where it could not be stored. */
  async #lose(caught: unknown): Promise<boolean> {
    const error = lossError(caught);
    const settled = await this.#settlement.lose(() => this.#lossNow(error));
    if (settled === "earlier_loss") return true;
    // A worker that has gone although its receipt was kept has nothing more to say, either.
    if (settled !== "receipt") this.link?.close(closeReason(this.phase), error);
    this.#leave.now();
    return settled !== "left";
  }

  #lossNow(error: RpcError): Loss {
    const { phase } = this;
    const stopped = this.#stop.latched !== undefined;
    const outcome = lossOutcome({ phase, stopped, toolOpen: this.events.openTools > 0, ownerDied: false });
    this.#log.warn({ reason: error.reason, outcome, phase, err: error }, "turn ended without a result");
    this.#track.end(outcome === "interrupted" ? "interrupted" : "lost");
    return { executionId: this.fence.executionId, outcome, error, stopped, usage: this.usage };
  }

  #outcomeStored(): void {
    this.children.close(StopCause.STOP_CAUSE_PARENT_ENDED);
    this.desk.executionEnded();
    this.#trace.settled();
  }

  async #cleanUp(): Promise<void> {
    this.#stop.cancel();
    this.#watch?.stop();
    this.#leave.cancel();
    this.children.close(StopCause.STOP_CAUSE_PARENT_ENDED);
    await this.#seat.clear(this.phase === "lost");
    await this.children.retired();
    this.#slot.leave();
    // What is lost while there is no room for its outcome may be gone before that is stored: it holds its session until then.
    const settled = await this.#settlement.settled;
    if (settled === "stored") await releaseTurn(this.#parts, this.#log, this.fence.executionId);
    this.#trace.ended();
  }
}
