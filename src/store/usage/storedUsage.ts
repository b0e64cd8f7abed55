/** What model calls have used, as rows keep it. Counters are whole numbers of 0 or more. */
export interface StoredUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly apiCalls: number;
  /** US dollars, as far as the cost of calls is known; 0 where it is not. */
  readonly costUsd: number;
}
