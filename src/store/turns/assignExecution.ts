import { defineCommand } from "../command.js";
import type { FenceProblem, StoredFence } from "./fence.js";
import { checkFence } from "./fence.js";

/** Gives an execution to a proved worker. */
export interface Assignment {
  readonly fence: StoredFence;
  readonly epoch: number;
  readonly launchId: string;
  /** Launch whose worker had it, is proved gone and had not adopted it; absent for the first one. */
  readonly replaces?: string;
  /** SHA-256 of the assignment secret and what it is bound to. */
  readonly adoptionDigest: Uint8Array;
  /** JSON text of the proof. */
  readonly evidence: string;
}

/** Commits the assignment before the bootstrap is sent; an execution is assigned once, or again in the place of a worker that is gone. */
export const assignExecution = defineCommand<
  Assignment,
  { readonly kind: "assigned" } | { readonly kind: "stale"; readonly problem: FenceProblem }
>({
  name: "execution.assign",
  run(tx, { fence, epoch, launchId, replaces, adoptionDigest, evidence }) {
    const verdict = checkFence(tx, fence, epoch, ["claimed", "assigned"]);
    if (verdict.kind === "stale") return verdict;
    const { state, launch_id: given } = verdict.execution;
    if (state === "assigned" && (replaces === undefined || given !== replaces))
      return { kind: "stale", problem: "ended" };
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
