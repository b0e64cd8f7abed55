import { defineCommand } from "../command.js";
import { applyOperation } from "./applyOperation.js";
import type { FenceProblem, StoredFence } from "./fence.js";
import { checkFence } from "./fence.js";
import type { OperationRefusal, StoreOperationPlan } from "./storeOperation.js";
import { touchSession } from "./touchSession.js";

/** One step of an execution's store stream. */
export interface OperationRequest {
  readonly fence: StoredFence;
  readonly epoch: number;
  /** The last one's plus 1. */
  readonly sequence: number;
  /** SHA-256 of the operation's canonical encoding. */
  readonly digest: Uint8Array;
  readonly operation: StoreOperationPlan;
  /** Most bytes of an answer in chunks. */
  readonly maxAnswerBytes: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What became of it. */
export type OperationResult =
  | {
      readonly kind: "committed";
      readonly sessionId: string;
      readonly sessionRevision: number;
      readonly firstRow: number;
      /** True for the first answer over again. */
      readonly replayed: boolean;
    }
  | { readonly kind: "sequence_gap"; readonly lastSequence: number }
  | { readonly kind: "sequence_conflict" }
  | { readonly kind: "refused"; readonly problem: OperationRefusal }
  | { readonly kind: "stale"; readonly problem: FenceProblem };

interface StoredOperation {
  readonly digest: Uint8Array;
  readonly session_revision: number;
  readonly first_row: number;
}

/** Commits a worker's operation exactly once: a lost answer is replayed, other content under its sequence is refused. */
export const persistOperation = defineCommand<OperationRequest, OperationResult>({
  name: "execution.persist",
  run(tx, request) {
    const verdict = checkFence(tx, request.fence, request.epoch, ["adopted"]);
    if (verdict.kind === "stale") return verdict;
    const { execution_id: executionId, session_id: sessionId, last_sequence: lastSequence } = verdict.execution;
    if (request.sequence <= lastSequence) {
      const earlier = tx.get<StoredOperation>(
        "SELECT digest, session_revision, first_row FROM store_operations WHERE execution_id = ? AND sequence = ?",
        executionId,
        request.sequence,
      );
      if (earlier === undefined || Buffer.compare(earlier.digest, request.digest) !== 0) {
        return { kind: "sequence_conflict" };
      }
      return {
        kind: "committed",
        sessionId,
        sessionRevision: earlier.session_revision,
        firstRow: earlier.first_row,
        replayed: true,
      };
    }
    if (request.sequence !== lastSequence + 1) return { kind: "sequence_gap", lastSequence };
    const applied = applyOperation(
      tx,
      {
        executionId,
        sessionId,
        sequence: request.sequence,
        now: request.now,
        maxAnswerBytes: request.maxAnswerBytes,
      },
      request.operation,
    );
    if ("refused" in applied) return { kind: "refused", problem: applied.refused };
    touchSession(tx, sessionId, request.now);
    const session = tx.get<{ revision: number }>("SELECT revision FROM sessions WHERE session_id = ?", sessionId);
    const sessionRevision = session?.revision ?? 0;
    tx.run("UPDATE executions SET last_sequence = ? WHERE execution_id = ?", request.sequence, executionId);
    tx.run(
      "INSERT INTO store_operations (execution_id, sequence, digest, session_revision, first_row) VALUES (?, ?, ?, ?, ?)",
      executionId,
      request.sequence,
      request.digest,
      sessionRevision,
      applied.firstRow,
    );
    return { kind: "committed", sessionId, sessionRevision, firstRow: applied.firstRow, replayed: false };
  },
});
