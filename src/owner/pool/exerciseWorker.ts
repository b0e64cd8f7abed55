import type { Clock } from "../../base/clock.js";
import { createDeferred } from "../../base/deferred.js";
import type { WorkerLink } from "../attach/workerLink.js";
import { mayArrive } from "../phase/frameRules.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";

/** Practice rounds of a pooled worker: enough for the code of the frame path to be compiled. */
const ROUNDS = 24;
const PAYLOAD = Buffer.alloc(256, "practice ");
/** Time for all rounds together, milliseconds. */
const PRACTICE_MS = 30_000;

/**
 * Sends a proved worker through its practice rounds, one after another. Whatever it sends afterwards, before somebody else
 * handles its frames, is judged by the phase `proved`.
 * @param likelyRuntime whose code it loads meanwhile; empty for none
 * @throws the error of the stream where that ends before; RpcError DEADLINE_EXCEEDED.
 */
export async function exerciseWorker(link: WorkerLink, clock: Clock, likelyRuntime: string): Promise<void> {
  let answered = createDeferred<void>();
  let expected = 0;
  const failed = createDeferred<never>();
  failed.promise.catch(() => undefined);
  link.handle((frame) => {
    if (!mayArrive("proved", frame.$case)) {
      throw reasonError("FRAME_OUT_OF_PHASE", { frame: frame.$case, phase: "proved" });
    }
    if (frame.$case === "error") failed.reject(new RpcError("WORKER_LOST", { message: frame.value.message }));
    if (frame.$case === "dryRunDone" && frame.value.round === expected) answered.resolve();
  });
  void link.closed.then((error) => {
    failed.reject(error ?? new RpcError("WORKER_LOST"));
  });
  const cancel = clock.after(PRACTICE_MS, () => {
    failed.reject(new RpcError("DEADLINE_EXCEEDED", { message: "A worker did not end its practice in time." }));
  });
  try {
    for (expected = 1; expected <= ROUNDS; expected += 1) {
      answered = createDeferred<void>();
      link.send({ $case: "dryRun", value: { round: expected, payload: PAYLOAD, likelyRuntime } });
      await Promise.race([answered.promise, failed.promise]);
    }
  } finally {
    cancel();
  }
}
