import { mkdirSync } from "node:fs";

import type { AgentConfig } from "../../base/config/agentConfig.js";
import type { Logger } from "../../base/logger.js";
import { within } from "../../base/within.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import type { RpcError } from "../../rpc/rpcError.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { WorkerFrame, WorkerLink } from "../attach/workerLink.js";
import type { Launch } from "../launch/launch.js";
import { mayReplace } from "../phase/executionPhase.js";
import type { WorkerProgram, WorkerSpec } from "../pool/workerSpec.js";
import { workerSpec } from "../pool/workerSpec.js";
import { workspaceOf } from "./bootstrapFrame.js";
import { saysNothing } from "./lossError.js";
import { persistently } from "./persistently.js";
import type { PhaseTrack } from "./phaseTrack.js";
import type { TurnParts } from "./turnParts.js";

/** After a launched process has ended its stream may still hold frames; this long they are waited for, milliseconds. */
const LAST_FRAMES_MS = 2_000;
/** After a stream has broken its process may still be about to end; this long its exit is waited for, milliseconds. */
const LAST_EXIT_MS = 1_000;

/** What a worker is started for. */
export interface WorkPlace {
  readonly spec: WorkerSpec;
  readonly agent: AgentConfig;
  readonly workspace: string;
  /** The gateway's environment, in which API keys may be named. */
  readonly environment: WorkerProgram["environment"];
  /** Launch whose worker this one stands in for. */
  readonly replaces?: string;
}

/** The turn that a seat is for. */
export interface SeatTurn {
  /** Whether the outcome is fixed: nobody is needed any more. */
  readonly settled: () => boolean;
  /** Resolves when the turn is stopped. */
  readonly stopped: Promise<void>;
  /** Resolves when nothing more of the turn is to come. */
  readonly over: Promise<void>;
  /** Gives the turn to the worker. */
  readonly assign: (link: WorkerLink, place: WorkPlace) => Promise<void>;
  readonly frame: (frame: WorkerFrame) => Promise<void> | void;
  /** The worker has gone before it did anything; another one comes. */
  readonly vacated: () => void;
  /** The stream or the process of the worker has ended. */
  readonly ended: (launch: Launch, error: RpcError | undefined) => void;
  /** No worker can be had. */
  readonly failed: (error: unknown) => Promise<unknown>;
}

/** What a seat works with. */
export interface SeatParts {
  readonly parts: TurnParts;
  readonly program: WorkerProgram;
  /** The input that the worker is for. */
  readonly claimed: Pick<ClaimedInput, "agent" | "policy" | "input">;
  readonly log: Logger;
  readonly track: PhaseTrack;
  readonly turn: SeatTurn;
}

/** Gets a turn its worker, and another one where a pooled worker dies before it has adopted the turn. */
export class WorkerSeat {
  readonly #parts: SeatParts;
  #launch: Launch | undefined;
  #link: WorkerLink | undefined;
  /** Whether the worker was pooled; false once another one has taken its place. */
  #pooled = false;
  #replaced: Promise<void> = Promise.resolve();

  constructor(parts: SeatParts) {
    this.#parts = parts;
  }

  /** The launched process, once there is one. */
  get launch(): Launch | undefined {
    return this.#launch;
  }

  /** The proved worker, once there is one. */
  get link(): WorkerLink | undefined {
    return this.#link;
  }

  /** Takes a waiting worker, or starts one, and gives it the turn. @throws RpcError WORKER_SPAWN_FAILED and others; StorageError. */
  async fill(): Promise<void> {
    const { parts, program, claimed, turn } = this.#parts;
    const { pool, listeners } = parts;
    const agent = parts.agent(claimed.agent);
    const workspace = workspaceOf(agent);
    mkdirSync(workspace, { recursive: true, mode: 0o700 });
    const spec = workerSpec(agent, program, workspace, Policy.decode(claimed.policy).runtime);
    // A turn that was stopped on its way here needs no worker.
    if (turn.settled()) return;
    try {
      const { launch, pooled } = await pool.take(spec);
      this.#pooled = pooled;
      await this.#engage(launch, { spec, agent, workspace, environment: program.environment });
    } catch (error) {
      if (!turn.settled()) listeners.workerTrouble(claimed.agent, error);
      throw error;
    } finally {
      pool.refill(spec);
    }
  }

  /** Kills what is left of the worker and waits until it is proved gone. @param told whether it was told why. */
  async clear(told: boolean): Promise<void> {
    await this.#replaced;
    if (this.#launch !== undefined) await this.#end(this.#launch, told);
  }

  async #engage(launch: Launch, place: WorkPlace): Promise<void> {
    const { track, turn } = this.#parts;
    this.#launch = launch;
    const link = await Promise.race([launch.attached, turn.stopped.then(() => undefined)]);
    if (link === undefined || turn.settled()) return;
    this.#link = link;
    track.move("prove", "hello");
    if (this.#pooled) track.move("exercise", "dry_run");
    this.#follow(launch, link, place);
    await turn.assign(link, place);
  }

  #follow(launch: Launch, link: WorkerLink, place: WorkPlace): void {
    const { parts, track, turn } = this.#parts;
    const { clock } = parts;
    const ended = (error: RpcError | undefined): void => {
      if (link !== this.#link) return;
      if (this.#pooled && mayReplace(track.phase) && !turn.settled()) this.#replaced = this.#replace(launch, place);
      else turn.ended(launch, error);
    };
    link.handle((frame) => (link === this.#link ? turn.frame(frame) : undefined));
    void link.closed.then(async (error) => {
      // A stream that just broke says less than the exit of its process, which may be known a moment later.
      if (!turn.settled() && saysNothing(error)) await within(clock, LAST_EXIT_MS, launch.exited);
      ended(error);
    });
    void launch.exited.then(() => {
      const cancel = clock.after(LAST_FRAMES_MS, () => {
        ended(undefined);
      });
      void turn.over.then(cancel);
    });
  }

  async #replace(dead: Launch, place: WorkPlace): Promise<void> {
    const { parts, track, turn, log } = this.#parts;
    log.warn({ launch: dead.id, exit: dead.exit }, "a pooled worker died before its turn; starting another");
    this.#pooled = false;
    this.#link = undefined;
    turn.vacated();
    track.restart();
    try {
      await this.#end(dead, false);
      if (turn.settled()) return;
      await this.#engage(await parts.launcher.launch(place.spec.request), { ...place, replaces: dead.id });
    } catch (error) {
      await turn.failed(error);
    }
  }

  #end(launch: Launch, told: boolean): Promise<void> {
    const { parts, log, claimed } = this.#parts;
    return persistently(parts.clock, log, () => parts.launcher.end(launch, told, claimed.input.session_id));
  }
}
