import type { Queryable } from "../sql.js";

/** Since when the oldest of what waits has waited, epoch milliseconds; undefined where nothing waits. */
export interface OldestWaiting {
  readonly input: number | undefined;
  readonly prompt: number | undefined;
  readonly delivery: number | undefined;
}

/** Finds the oldest queued input, open prompt and queued delivery. */
export function readOldestWaiting(from: Queryable): OldestWaiting {
  const oldest = (sql: string): number | undefined => from.get<{ at: number | null }>(sql)?.at ?? undefined;
  return {
    input: oldest("SELECT MIN(queued_at) AS at FROM inputs WHERE state = 'queued'"),
    prompt: oldest("SELECT MIN(created_at) AS at FROM prompts WHERE end IS NULL"),
    delivery: oldest("SELECT MIN(created_at) AS at FROM deliveries INDEXED BY deliveries_lane WHERE state = 'queued'"),
  };
}
