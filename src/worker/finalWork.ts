import type { Clock } from "../base/clock.js";
import { createDeferred } from "../base/deferred.js";
import { RpcError } from "../rpc/rpcError.js";
import type { WorkerLog } from "./workerLog.js";

/** A piece of the work that is left once a turn has its answer. */
export interface FinalStep {
  /** For the log. */
  readonly name: string;
  /** Does it; `signal` aborts when no time is left. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** What {@link runFinalWork} needs. */
export interface FinalWorkParts {
  readonly clock: Clock;
  readonly log: WorkerLog;
  /** Time for all steps together, milliseconds. */
  readonly budgetMs: number;
  /** Aborts when the turn is stopped: what is left has a short time then. */
  readonly stopped: AbortSignal;
  /** Aborts when the owner is gone: nothing is left to be done then. */
  readonly ownerGone: AbortSignal;
}

/** Time for what is left of a turn that was stopped, milliseconds: well before the owner's SIGTERM. */
const STOPPED_MS = 2_000;

/**
 * Does the steps one after another within one budget. A step that throws is logged; one that goes on when no time is left is not waited
 * for any longer, and those after it are left out. Never throws.
 */
export async function runFinalWork(parts: FinalWorkParts, steps: readonly FinalStep[]): Promise<void> {
  const { clock, log, budgetMs, stopped, ownerGone } = parts;
  const over = createDeferred<void>();
  const controller = new AbortController();
  const end = (): void => {
    controller.abort(new RpcError("DEADLINE_EXCEEDED", { message: "No time is left for the turn's last work." }));
    over.resolve();
  };
  const cancels = [clock.after(budgetMs, end)];
  const onStopped = (): void => {
    cancels.push(clock.after(STOPPED_MS, end));
  };
  stopped.addEventListener("abort", onStopped);
  ownerGone.addEventListener("abort", end);
  if (stopped.aborted) onStopped();
  if (ownerGone.aborted) end();
  const { signal } = controller;
  try {
    for (const { name, run } of steps) {
      if (signal.aborted) {
        if (!ownerGone.aborted) log.warn("a turn's last work was left out", { step: name });
        continue;
      }
      const work = run(signal).catch((error: unknown) => {
        const problem = error instanceof Error ? error.message : String(error);
        log.warn("a turn's last work failed", { step: name, problem: problem.slice(0, 1_024) });
      });
      const late = await Promise.race([work, over.promise.then(() => "late" as const)]);
      if (late === "late") log.warn("a turn's last work took too long", { step: name });
    }
  } finally {
    for (const cancel of cancels) cancel();
    stopped.removeEventListener("abort", onStopped);
    ownerGone.removeEventListener("abort", end);
  }
}
