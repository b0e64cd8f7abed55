import type { Queryable } from "../sql.js";

/** One start of the gateway. */
export interface EpochRow {
  /** One more than at the start before. */
  readonly epoch: number;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** The gateway's process. */
  readonly pid: number;
  /** Its birth. */
  readonly birthTicks: bigint;
  /** The boot in which it ran. */
  readonly bootId: string;
}

/** The starts of this home, the latest first, at most `limit`. */
export function listEpochs(from: Queryable, limit: number): readonly EpochRow[] {
  return from
    .all<{ epoch: number; startedAtMs: number; pid: number; birthTicks: number; bootId: string }>(
      `SELECT epoch, started_at_ms AS startedAtMs, pid, birth_ticks AS birthTicks, boot_id AS bootId
       FROM epochs ORDER BY epoch DESC LIMIT ?`,
      limit,
    )
    .map((row) => ({ ...row, birthTicks: BigInt(row.birthTicks) }));
}
