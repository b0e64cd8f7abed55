import type { Queryable } from "../sql.js";
import type { StoredOutcome } from "./storedOutcome.js";

/** Where an execution stands on disk. `result` and later have an outcome. */
export type ExecutionState = "claimed" | "assigned" | "adopted" | "result" | "finished" | "lost";

/** One attempt at an input, as the store keeps it. */
export interface ExecutionRow {
  readonly execution_id: string;
  readonly session_id: string;
  readonly input_id: string;
  /** Epoch that started it. */
  readonly epoch: number;
  /** Generation that its session had. */
  readonly generation: number;
  readonly state: ExecutionState;
  readonly adoption_digest: Uint8Array | null;
  readonly launch_id: string | null;
  /** Sequence of its last store operation. */
  readonly last_sequence: number;
  readonly outcome: StoredOutcome | null;
  readonly result: Uint8Array | null;
  /** JSON text of the proof. */
  readonly evidence: string | null;
  readonly created_at: number;
  readonly ended_at: number | null;
}

/** Reads an execution. */
export function executionRow(at: Queryable, executionId: string): ExecutionRow | undefined {
  return at.get<ExecutionRow>("SELECT * FROM executions WHERE execution_id = ?", executionId);
}
