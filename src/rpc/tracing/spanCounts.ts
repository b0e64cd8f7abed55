/** What became of the spans that were recorded, since the start. */
export interface SpanCounts {
  /** Taken by the collector. */
  readonly exported: number;
  /** Not taken by it. */
  readonly failed: number;
  /** Never sent, because too many waited. */
  readonly dropped: number;
}
