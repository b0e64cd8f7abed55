/** The one recorded end of a turn; mirrors the contract's TurnOutcome. */
export type StoredOutcome = "completed" | "failed" | "interrupted" | "unknown" | "cancelled";
