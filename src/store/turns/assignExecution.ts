import { defineCommand } from "../command.js";
import type { FenceProblem, StoredFence } from "./fence.js";
import { checkFence } from "./fence.js";

/** Gives an execution to a proved worker. */
export interface Assignment {
  readonly fence: StoredFence;
  readonly epoch: number;
  readonly launchId: string;
  /** SHA-256 of the assignment secret and what it is bound to. */
  readonly adoptionDigest: Uint8Array;
  /** JSON text of the proof. */
  readonly evidence: string;
}

/** Commits the assignment before the bootstrap is sent; an execution is assigned once. */
export const assignExecution = defineCommand<
  Assignment,
  { readonly kind: "assigned" } | { readonly kind: "stale"; readonly problem: FenceProblem }
>({
  name: "execution.assign",
  run(tx, { fence, epoch, launchId, adoptionDigest, evidence }) {
    const verdict = checkFence(tx, fence, epoch, ["claimed"]);
    if (verdict.kind === "stale") return verdict;
    tx.run(
      "UPDATE executions SET state = 'assigned', launch_id = ?, adoption_digest = ?, evidence = ? WHERE execution_id = ?",
      launchId,
      adoptionDigest,
      evidence,
      fence.executionId,
    );
    return { kind: "assigned" };
  },
});
