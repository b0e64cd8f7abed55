import { timingSafeEqual } from "node:crypto";

import { defineCommand } from "../command.js";
import type { FenceProblem, StoredFence } from "./fence.js";
import { checkFence } from "./fence.js";

/** A worker's claim to its assignment. */
export interface Adoption {
  readonly fence: StoredFence;
  readonly epoch: number;
  /** Digest made from what the worker showed. */
  readonly adoptionDigest: Uint8Array;
}

/** What became of it. */
export type AdoptionResult =
  | {
      readonly kind: "adopted";
      readonly sessionId: string;
      readonly lastSequence: number;
      readonly sessionRevision: number;
    }
  | { readonly kind: "mismatch" }
  | { readonly kind: "stale"; readonly problem: FenceProblem };

/** Adopts an assignment; the same worker may do it again. */
export const adoptExecution = defineCommand<Adoption, AdoptionResult>({
  name: "execution.adopt",
  run(tx, { fence, epoch, adoptionDigest }) {
    const verdict = checkFence(tx, fence, epoch, ["assigned", "adopted", "result"]);
    if (verdict.kind === "stale") return verdict;
    const { execution } = verdict;
    const expected = execution.adoption_digest;
    if (expected?.length !== adoptionDigest.length || !timingSafeEqual(expected, adoptionDigest)) {
      return { kind: "mismatch" };
    }
    if (execution.state === "assigned") {
      tx.run("UPDATE executions SET state = 'adopted' WHERE execution_id = ?", fence.executionId);
    }
    const session = tx.get<{ revision: number }>(
      "SELECT revision FROM sessions WHERE session_id = ?",
      execution.session_id,
    );
    return {
      kind: "adopted",
      sessionId: execution.session_id,
      lastSequence: execution.last_sequence,
      sessionRevision: session?.revision ?? 0,
    };
  },
});
