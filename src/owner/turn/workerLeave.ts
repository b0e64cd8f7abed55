import { createDeferred } from "../../base/deferred.js";
import type { Logger } from "../../base/logger.js";
import type { Launch } from "../launch/launch.js";
import { exitError } from "./lossError.js";
import type { PhaseTrack } from "./phaseTrack.js";
import type { TurnParts } from "./turnParts.js";

/**
 * How long a worker is waited for that has nothing more to say on its turn, and how it left. It ends well where it said that it has
 * finished, its stream ended and it exited with 0; whatever it does, the outcome of its turn stands.
 */
export class WorkerLeave {
  readonly #parts: Pick<TurnParts, "clock" | "budgets" | "listeners">;
  readonly #log: Logger;
  readonly #agent: string;
  readonly #track: Pick<PhaseTrack, "phase" | "move">;
  readonly #over = createDeferred<void>();
  #finished = false;
  #cancel: () => void = () => undefined;

  constructor(
    parts: Pick<TurnParts, "clock" | "budgets" | "listeners">,
    log: Logger,
    agent: string,
    track: Pick<PhaseTrack, "phase" | "move">,
  ) {
    this.#parts = parts;
    this.#log = log;
    this.#agent = agent;
    this.#track = track;
  }

  /** Resolves when nothing more of the turn is to come, or no longer waited for. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** It was told to finish. */
  asked(): void {
    this.#within(this.#parts.budgets.finishWaitMs);
  }

  /** It has said that it has finished. */
  finished(): void {
    this.#finished = true;
    this.#within(this.#parts.budgets.exitAfterFinishedMs);
  }

  /** Its stream has ended, or its process without the end of the stream, and its turn has its outcome. */
  streamEnded(launch: Launch): void {
    if (this.#track.phase !== "finishing" || !this.#finished) {
      this.now();
      return;
    }
    // It said that it has finished: it has its time to leave, and how it leaves is part of that.
    void launch.exited.then((exit) => {
      if (this.#track.phase === "finishing") {
        if (exit.code === 0) this.#track.move("leave", "exit");
        else this.#badly(exitError(exit));
      }
      this.now();
    });
  }

  /** It is not waited for any longer. */
  now(): void {
    this.#over.resolve();
  }

  /** Ends the watch on its leaving. */
  cancel(): void {
    this.#cancel();
  }

  #within(ms: number): void {
    this.#cancel();
    this.#cancel = this.#parts.clock.after(ms, () => {
      this.#log.warn({ phase: this.#track.phase }, "a worker did not leave in time");
      this.now();
    });
  }

  /** It is one to be looked at. */
  #badly(error: Error): void {
    this.#log.warn({ err: error }, "a worker failed after its turn had finished");
    this.#parts.listeners.workerTrouble(this.#agent, error);
  }
}
