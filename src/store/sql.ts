/** A value that SQLite stores. Times are epoch milliseconds, flags 0 or 1. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** Reads rows; queries take this, so that they work on the reader and inside a command alike. */
export interface Queryable {
  /** The first row, or undefined. `Row` is what the statement selects; nothing checks it at run time. */
  get<Row extends object>(sql: string, ...values: readonly SqlValue[]): Row | undefined;
  /** Every row. */
  all<Row extends object>(sql: string, ...values: readonly SqlValue[]): Row[];
}

/** What a statement changed. */
export interface Changes {
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
  /** Row id of the last insert of this connection. */
  readonly lastInsertRowid: number;
}

/** The open transaction, as a command sees it. Not to be kept after the command has returned. */
export interface Tx extends Queryable {
  /** Runs a statement that changes rows. */
  run(sql: string, ...values: readonly SqlValue[]): Changes;
}
