import type { Queryable } from "../sql.js";
import type { StoredOutcome } from "../turns/storedOutcome.js";

/** How many turns ended in one way since the home began. */
export interface TurnOutcomeCount {
  readonly outcome: StoredOutcome;
  /** Name in the reason registry; empty where the end has none. */
  readonly reason: string;
  readonly turns: number;
}

/** Counts turns by outcome and reason; together they are every turn that has ended, also of deleted sessions. */
export function readTurnOutcomes(from: Queryable): readonly TurnOutcomeCount[] {
  return from.all<TurnOutcomeCount>("SELECT outcome, reason, turns FROM turn_outcomes ORDER BY outcome, reason");
}
