import type { Queryable } from "../sql.js";
import type { ExecutionRow } from "./executionRow.js";
import { executionRow } from "./executionRow.js";

/** Which execution a writer believes it writes for. */
export interface StoredFence {
  readonly executionId: string;
  readonly epoch: number;
  readonly generation: number;
}

/** Why a writer is stale. */
export type FenceProblem = "unknown_execution" | "stale_epoch" | "stale_generation" | "ended";

/** An execution that may be written, or why not. */
export type FenceVerdict =
  | { readonly kind: "current"; readonly execution: ExecutionRow }
  | { readonly kind: "stale"; readonly problem: FenceProblem };

/**
 * Checks a fence inside the transaction that would write, so that a command queued before a settlement and run after it
 * writes nothing.
 * @param open states in which this write is allowed.
 */
export function checkFence(
  at: Queryable,
  fence: StoredFence,
  epoch: number,
  open: readonly ExecutionRow["state"][],
): FenceVerdict {
  const execution = executionRow(at, fence.executionId);
  if (execution === undefined) return { kind: "stale", problem: "unknown_execution" };
  if (fence.epoch !== epoch || execution.epoch !== epoch) return { kind: "stale", problem: "stale_epoch" };
  const session = at.get<{ generation: number }>(
    "SELECT generation FROM sessions WHERE session_id = ?",
    execution.session_id,
  );
  if (fence.generation !== execution.generation || session?.generation !== execution.generation) {
    return { kind: "stale", problem: "stale_generation" };
  }
  if (!open.includes(execution.state)) return { kind: "stale", problem: "ended" };
  return { kind: "current", execution };
}
