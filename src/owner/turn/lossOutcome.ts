import type { ExecutionPhase } from "../phase/executionPhase.js";

/** What is known when an execution ends without a receipt. */
export interface LossFacts {
  /** Where the worker stood; after its owner's death as far as the store tells. */
  readonly phase: ExecutionPhase;
  /** Whether a Stop had been latched. */
  readonly stopped: boolean;
  /** Whether a tool call was open. */
  readonly toolOpen: boolean;
  /** Whether the owner that ran it is gone. */
  readonly ownerDied: boolean;
}

const BEFORE_ADOPTION: ReadonlySet<ExecutionPhase> = new Set(["spawned", "proved", "exercised", "bootstrapped"]);
const BEFORE_RUNNING: ReadonlySet<ExecutionPhase> = new Set([...BEFORE_ADOPTION, "adopted"]);

/**
 * The outcome of an execution that gave no receipt; a committed result is never asked about. Unknown is for what may have
 * had an effect outside that nobody recorded: a worker loads its runtime only after `Adopt`. Source: DESIGN section 3, "Outcome of a lost worker".
 */
export function lossOutcome(facts: LossFacts): "failed" | "unknown" | "interrupted" {
  if (facts.ownerDied) return BEFORE_ADOPTION.has(facts.phase) ? "failed" : "unknown";
  if (facts.toolOpen) return "unknown";
  if (facts.stopped && BEFORE_RUNNING.has(facts.phase)) return "interrupted";
  return "failed";
}
