import type { Failure } from "../../gen/talaria/types/v1/failure.js";
import { reasonError, type RpcError } from "../../rpc/rpcError.js";
import { failureOf, toFailure } from "../../rpc/wire/failure.js";
import type { ReachedBudget } from "./budgetReached.js";

/** An agent that begins no turn until the UTC day ends. */
export interface AgentPause {
  readonly agent: string;
  /** Which budget; undefined where the agent's file, which has a mistake in it, does not say. */
  readonly reached: ReachedBudget | undefined;
  /** When the next UTC day begins, epoch milliseconds. */
  readonly until: number;
}

/** The refusal of an agent's new inputs while it is paused, with the time that is left. */
export function pauseError({ agent, reached, until }: AgentPause, now: number): RpcError {
  const resetsAt = new Date(until).toISOString();
  return reasonError(
    "BUDGET_REACHED",
    { agent, resetsAt, ...reached },
    {
      message: `Agent ${agent} has used ${figuresOf(reached)} of this UTC day and is paused until ${resetsAt}.`,
      retryAfterMs: Math.max(0, until - now),
    },
  );
}

function figuresOf(reached: ReachedBudget | undefined): string {
  if (reached === undefined) return "its budget";
  const { key, used, limit } = reached;
  return key === "budget.tokens_per_day"
    ? `${String(used)} of ${String(limit)} tokens`
    : `$${used.toFixed(4)} of $${String(limit)}`;
}

/** The same as the contract writes it. */
export function pauseFailure(pause: AgentPause, now: number): Failure {
  return toFailure({ ...failureOf(pauseError(pause, now)), resetsAt: pause.until });
}
