import { createDeferred } from "../../base/deferred.js";
import type { WorkerLink } from "../attach/workerLink.js";
import { mayArrive } from "../phase/frameRules.js";
import { reasonError } from "../../rpc/rpcError.js";

/** Practice rounds of a pooled worker: enough for the code of the frame path to be compiled. */
const ROUNDS = 24;
const PAYLOAD = Buffer.alloc(256, "practice ");

/** Sends a proved worker through its practice rounds, one after another. Rejects where the stream ends before. */
export async function exerciseWorker(link: WorkerLink): Promise<void> {
  let answered = createDeferred<void>();
  let expected = 0;
  link.handle((frame) => {
    if (!mayArrive("proved", frame.$case)) {
      throw reasonError("FRAME_OUT_OF_PHASE", { frame: frame.$case, phase: "proved" });
    }
    if (frame.$case === "dryRunDone" && frame.value.round === expected) answered.resolve();
  });
  const lost = link.closed.then((error) => {
    throw error ?? new Error("the worker left during its practice");
  });
  for (expected = 1; expected <= ROUNDS; expected += 1) {
    answered = createDeferred<void>();
    link.send({ $case: "dryRun", value: { round: expected, payload: PAYLOAD } });
    await Promise.race([answered.promise, lost]);
  }
  lost.catch(() => undefined);
}
