/** One numbered step of the schema. A step that was released never changes. */
export interface Migration {
  /** From 1, without gaps; what `PRAGMA user_version` holds afterwards. */
  readonly version: number;
  /** A few words for the log. */
  readonly name: string;
  /** Statements of the step; they run in one transaction. */
  readonly sql: string;
}
