import type { Logger } from "../../base/logger.js";
import type { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import type { Reason } from "../../rpc/reasons.js";
import type { WorkerLink } from "../attach/workerLink.js";
import type { Launch } from "../launch/launch.js";
import type { StopSteps } from "./stopLadder.js";
import { forcedReason } from "./stopReason.js";

/** The worker that a turn has at the moment. */
export interface CurrentWorker {
  readonly launch: Launch | undefined;
  readonly link: WorkerLink | undefined;
}

/** Ends a turn's worker where asking is not enough, and remembers why. */
export class WorkerForce {
  readonly #worker: CurrentWorker;
  readonly #log: Logger;
  #reason: Reason | undefined;

  constructor(worker: CurrentWorker, log: Logger) {
    this.#worker = worker;
    this.#log = log;
  }

  /** What a coming end of the stream is to be called; undefined where no force was used. */
  get reason(): Reason | undefined {
    return this.#reason;
  }

  /** The steps of a Stop. */
  steps(cause: StopCause): StopSteps {
    return {
      ask: () => this.#worker.link?.send({ $case: "stop", value: { cause } }),
      terminate: () => {
        this.#use("SIGTERM", forcedReason(cause));
      },
      kill: () => {
        this.kill(forcedReason(cause));
      },
    };
  }

  /** Kills the worker's group. */
  kill(reason: Reason): void {
    this.#use("SIGKILL", reason);
  }

  #use(signal: NodeJS.Signals, reason: Reason): void {
    this.#reason = reason;
    const outcome = this.#worker.launch?.group.signal(signal);
    this.#log.info({ signal, outcome }, "signalled the worker's group");
  }
}
