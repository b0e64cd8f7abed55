/** What a pool does next. */
export interface PoolPlan {
  /** Positions of the waiting workers that nobody wants. */
  readonly surplus: readonly number[];
  /** Position of the wish that no worker answers, the latest one; undefined where every wish is answered. */
  readonly missing: number | undefined;
}

/** Compares the waiting workers with the wanted ones, both by key and oldest first; a key may stand several times. */
export function poolPlan(waiting: readonly string[], wanted: readonly string[]): PoolPlan {
  const unanswered = wanted.map((key, position) => ({ key, position }));
  const surplus: number[] = [];
  waiting.forEach((key, position) => {
    const wish = unanswered.findLastIndex((one) => one.key === key);
    if (wish < 0) surplus.push(position);
    else unanswered.splice(wish, 1);
  });
  return { surplus, missing: unanswered.at(-1)?.position };
}
