/** Why something ended badly, as rows keep it (JSON text). */
export interface StoredFailure {
  /** Name in the reason registry. */
  readonly reason: string;
  /** What happened, for people. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** When a limit resets, epoch milliseconds. */
  readonly resetsAt?: number;
  /** The reason as a foreign peer spelled it, where this gateway does not know it. */
  readonly foreignReason?: string;
}

/** The JSON text of a failure, or null for none: what a `failure` column holds. */
export function failureColumn(failure: StoredFailure | undefined): string | null {
  return failure === undefined ? null : JSON.stringify(failure);
}

/** Reads a `failure` column back. */
export function failureFromColumn(column: string | null): StoredFailure | undefined {
  return column === null ? undefined : (JSON.parse(column) as StoredFailure);
}
