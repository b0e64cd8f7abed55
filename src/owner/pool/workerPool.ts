import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { CloseReason } from "../../gen/talaria/owner/v1/owner_service.js";
import type { Launch } from "../launch/launch.js";
import type { Launcher } from "../launch/launcher.js";
import { exerciseWorker } from "./exerciseWorker.js";
import type { WorkerSpec } from "./workerSpec.js";

/** After a failure to make a worker ready the pool waits this long, doubled each time, milliseconds. */
const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 60_000;

/** What a pool works with. */
export interface WorkerPoolParts {
  readonly launcher: Launcher;
  readonly clock: Clock;
  readonly log: Logger;
  /** Idle workers kept ready; 0 turns the pool off. */
  readonly size: number;
  /** How long a worker may wait for an assignment, milliseconds. */
  readonly idleMs: number;
  /** Told when a worker could not be made ready. */
  readonly onTrouble: (error: unknown) => void;
}

interface Idle {
  readonly key: string;
  readonly launch: Launch;
  readonly cancelTimer: () => void;
}

/** A worker for a turn. */
export interface TakenWorker {
  readonly launch: Launch;
  /** Whether it was waiting, proved and exercised. */
  readonly pooled: boolean;
}

/**
 * Keeps workers ready: proved, exercised, without policy and without an assignment. It follows use: after a turn it makes a
 * worker of the same kind ready. Each worker has one execution. Source: DESIGN section 4.
 */
export class WorkerPool {
  readonly #parts: WorkerPoolParts;
  #idle: Idle[] = [];
  /** Workers on their way to being ready. */
  readonly #filling = new Map<Promise<void>, { launch: Launch | undefined }>();
  #closed = false;
  #failures = 0;
  #notBefore = 0;

  constructor(parts: WorkerPoolParts) {
    this.#parts = parts;
  }

  /** Number of workers that wait. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Takes a waiting worker of this kind, or starts one. @throws RpcError WORKER_SPAWN_FAILED; StorageError. */
  async take(spec: WorkerSpec): Promise<TakenWorker> {
    const index = spec.poolable ? this.#idle.findIndex(({ key }) => key === spec.key) : -1;
    const [found] = index < 0 ? [] : this.#idle.splice(index, 1);
    found?.cancelTimer();
    if (found !== undefined && found.launch.exit === undefined) return { launch: found.launch, pooled: true };
    return { launch: await this.#parts.launcher.launch(spec.request), pooled: false };
  }

  /** Makes a worker of this kind ready, unless there are enough. */
  refill(spec: WorkerSpec): void {
    const { size, clock } = this.#parts;
    if (this.#closed || !spec.poolable || size === 0 || this.#filling.size > 0) return;
    if (this.#idle.filter(({ key }) => key === spec.key).length >= size || clock.monotonic() < this.#notBefore) return;
    const begun: { launch: Launch | undefined } = { launch: undefined };
    const filled = this.#fill(spec, begun)
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error }, "a pooled worker's record could not be closed");
      })
      .finally(() => this.#filling.delete(filled));
    this.#filling.set(filled, begun);
  }

  /** Retires every waiting worker and those on their way; none is made ready any more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { launch } of this.#filling.values()) void launch?.group.kill();
    await Promise.all([...this.#idle.splice(0).map((idle) => this.#retire(idle)), ...this.#filling.keys()]);
  }

  async #fill(spec: WorkerSpec, begun: { launch: Launch | undefined }): Promise<void> {
    const { launcher, clock, log, idleMs, size, onTrouble } = this.#parts;
    let launch: Launch | undefined;
    try {
      launch = await launcher.launch(spec.request);
      begun.launch = launch;
      if (this.#closed) void launch.group.kill();
      const link = await launch.attached;
      await exerciseWorker(link);
      this.#failures = 0;
    } catch (error) {
      if (launch !== undefined) await launcher.end(launch);
      if (this.#closed) return;
      this.#failures += 1;
      const wait = Math.min(BACKOFF_MS * 2 ** (this.#failures - 1), BACKOFF_MAX_MS);
      this.#notBefore = clock.monotonic() + wait;
      log.warn({ err: error, waitMs: wait }, "a pooled worker could not be made ready");
      onTrouble(error);
      return;
    }
    const ready = launch;
    const idle: Idle = {
      key: spec.key,
      launch: ready,
      cancelTimer: clock.after(idleMs, () => void this.#drop(ready)),
    };
    if (this.#closed) {
      await this.#retire(idle);
      return;
    }
    void ready.exited.then(() => this.#drop(ready));
    this.#idle.push(idle);
    while (this.#idle.length > size) {
      const oldest = this.#idle.shift();
      if (oldest !== undefined) await this.#retire(oldest);
    }
  }

  async #drop(launch: Launch): Promise<void> {
    const index = this.#idle.findIndex((idle) => idle.launch === launch);
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    if (idle !== undefined) await this.#retire(idle);
  }

  async #retire(idle: Idle): Promise<void> {
    idle.cancelTimer();
    const link = await idle.launch.attached;
    link.close(CloseReason.CLOSE_REASON_STOPPED);
    try {
      await this.#parts.launcher.end(idle.launch);
    } catch (error) {
      this.#parts.log.error({ err: error, launch: idle.launch.id }, "a retired worker's record could not be closed");
    }
  }
}
