import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { Random } from "../../base/random.js";
import { CloseReason } from "../../gen/talaria/owner/v1/owner_service.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { WorkerLink } from "../attach/workerLink.js";
import type { Launch } from "../launch/launch.js";
import type { Launcher } from "../launch/launcher.js";
import { exerciseWorker } from "./exerciseWorker.js";
import { poolPlan } from "./poolPlan.js";
import type { WorkerSpec } from "./workerSpec.js";

/** A turn that has just got its worker is spared the start of another one for so many milliseconds. */
const SPARED_MS = 150;
/** After a failure the pool waits between half of this and the whole, doubled with each failure in a row, milliseconds. */
const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 300_000;

/** What a pool works with. */
export interface WorkerPoolParts {
  readonly launcher: Pick<Launcher, "launch" | "end">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Idle workers kept ready; 0 turns the pool off. */
  readonly size: number;
  /** How long a worker may wait for an assignment before another takes its place, milliseconds. */
  readonly idleMs: number;
  /** Told when a worker could not be made ready, and when one that waited has ended. */
  readonly onTrouble: (error: unknown) => void;
}

interface Waiting {
  readonly key: string;
  readonly launch: Launch;
  readonly link: WorkerLink;
  readonly cancelTimer: () => void;
}

/** A worker for a turn. */
export interface TakenWorker {
  readonly launch: Launch;
  /** Whether it was waiting, proved and exercised. */
  readonly pooled: boolean;
}

/**
 * Keeps workers ready: proved, exercised, without policy and without an assignment. It follows use: it holds a worker of the
 * kind of each of the last `size` turns, and makes them ready one after another. A worker that is taken never comes back:
 * each has one execution. Source: DESIGN section 4.
 */
export class WorkerPool {
  readonly #parts: WorkerPoolParts;
  /** Kinds of the last uses, oldest first. */
  #wanted: WorkerSpec[] = [];
  #waiting: Waiting[] = [];
  /** The worker on its way to being ready; its launch once there is one. */
  #filling: { launch?: Launch } | undefined;
  /** Work that {@link close} waits for. */
  readonly #pending = new Set<Promise<void>>();
  #closed = false;
  #failures = 0;
  #cancelBackoff: (() => void) | undefined;
  #cancelSpare: (() => void) | undefined;

  constructor(parts: WorkerPoolParts) {
    this.#parts = parts;
  }

  /** Number of workers that wait. */
  get idle(): number {
    return this.#waiting.length;
  }

  /** Takes a waiting worker of this kind, or starts one. @throws RpcError WORKER_SPAWN_FAILED; StorageError. */
  async take(spec: WorkerSpec): Promise<TakenWorker> {
    if (spec.poolable) this.#spare();
    // One whose end is known is left to be cleaned up.
    const found = this.#waiting.find(({ key, launch }) => key === spec.key && launch.exit === undefined);
    if (found !== undefined && this.#remove(found)) return { launch: found.launch, pooled: true };
    return { launch: await this.#parts.launcher.launch(spec.request), pooled: false };
  }

  /** Says that a worker of this kind is in use, or soon will be: one more like it is made ready. */
  refill(spec: WorkerSpec): void {
    if (!spec.poolable || this.#parts.size === 0) return;
    this.#wanted = [...this.#wanted, spec].slice(-this.#parts.size);
    this.#top();
  }

  /** Retires every waiting worker and the one on its way; none is made ready any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelBackoff?.();
    this.#cancelSpare?.();
    void this.#filling?.launch?.group.kill();
    for (const one of [...this.#waiting]) this.#retire(one);
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Starts nothing for a while. Takes that follow do not prolong it, so that a busy home has its pool too. */
  #spare(): void {
    if (this.#closed || this.#parts.size === 0) return;
    this.#cancelSpare ??= this.#parts.clock.after(SPARED_MS, () => {
      this.#cancelSpare = undefined;
      this.#top();
    });
  }

  /** Brings what waits nearer to what is wanted. */
  #top(): void {
    if (this.#closed) return;
    const plan = poolPlan(
      this.#waiting.map(({ key }) => key),
      this.#wanted.map(({ key }) => key),
    );
    const surplus = plan.surplus.map((position) => this.#waiting[position]);
    for (const one of surplus) if (one !== undefined) this.#retire(one);
    const spec = plan.missing === undefined ? undefined : this.#wanted[plan.missing];
    const waits = this.#cancelBackoff !== undefined || this.#cancelSpare !== undefined;
    if (spec === undefined || this.#filling !== undefined || waits) return;
    this.#track(this.#fill(spec));
  }

  async #fill(spec: WorkerSpec): Promise<void> {
    const { launcher, clock } = this.#parts;
    const filling: { launch?: Launch } = {};
    this.#filling = filling;
    try {
      const launch = await launcher.launch(spec.request);
      filling.launch = launch;
      if (this.#closed) void launch.group.kill();
      const link = await launch.attached;
      await exerciseWorker(link, clock, spec.runtime);
      this.#failures = 0;
      this.#keep(spec, launch, link);
    } catch (error) {
      if (filling.launch !== undefined) await this.#end(filling.launch);
      this.#failed(error);
    } finally {
      this.#filling = undefined;
    }
    this.#top();
  }

  #keep(spec: WorkerSpec, launch: Launch, link: WorkerLink): void {
    const { clock, idleMs } = this.#parts;
    const one: Waiting = {
      key: spec.key,
      launch,
      link,
      cancelTimer: clock.after(idleMs, () => {
        this.#retire(one);
        this.#top();
      }),
    };
    this.#waiting.push(one);
    const ended = (error?: RpcError): void => {
      if (!this.#retire(one)) return;
      this.#failed(error ?? new RpcError("WORKER_EXITED"));
    };
    void launch.exited.then(() => {
      ended();
    });
    void link.closed.then(ended);
    if (this.#closed) this.#retire(one);
  }

  /** Takes a worker out of those that wait. @returns whether it was one of them. */
  #remove(one: Waiting): boolean {
    const position = this.#waiting.indexOf(one);
    if (position < 0) return false;
    this.#waiting.splice(position, 1);
    one.cancelTimer();
    return true;
  }

  /** Ends a worker that waits. @returns whether it was one of them. */
  #retire(one: Waiting): boolean {
    if (!this.#remove(one)) return false;
    one.link.close(CloseReason.CLOSE_REASON_STOPPED);
    this.#track(this.#end(one.launch));
    return true;
  }

  async #end(launch: Launch): Promise<void> {
    try {
      await this.#parts.launcher.end(launch);
    } catch (error) {
      this.#parts.log.error({ err: error, launch: launch.id }, "a pooled worker's record could not be closed");
    }
  }

  #failed(error: unknown): void {
    if (this.#closed) return;
    const { clock, random, log, onTrouble } = this.#parts;
    const longest = Math.min(BACKOFF_MS * 2 ** this.#failures, BACKOFF_MAX_MS);
    const waitMs = Math.round(longest * (0.5 + random.fraction() / 2));
    this.#failures += 1;
    this.#cancelBackoff?.();
    this.#cancelBackoff = clock.after(waitMs, () => {
      this.#cancelBackoff = undefined;
      this.#top();
    });
    log.warn({ err: error, waitMs }, "a pooled worker could not be had");
    onTrouble(error);
  }

  #track(work: Promise<void>): void {
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }
}
