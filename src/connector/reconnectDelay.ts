/** Bounds of the waits between two attempts, milliseconds. */
export interface DelayBounds {
  /** Longest first wait. */
  readonly minMs: number;
  /** Longest wait. */
  readonly maxMs: number;
}

/** Waits before the gateway that relays is called again. */
export const HUB_DELAYS: DelayBounds = Object.freeze({ minMs: 1_000, maxMs: 60_000 });
/** Waits before the gateway of this machine is called again. */
export const LOCAL_DELAYS: DelayBounds = Object.freeze({ minMs: 250, maxMs: 10_000 });

/**
 * The wait before the next attempt, milliseconds: anywhere in the upper half of a bound that doubles with each failure up to the
 * cap, so that many connectors do not come back together and none hammers. It never says to give up. Pure.
 * @param failures attempts that failed in a row, from 1
 * @param fraction a number in [0, 1)
 */
export function reconnectDelay(failures: number, fraction: number, { minMs, maxMs }: DelayBounds): number {
  const bound = Math.min(maxMs, minMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.floor(bound / 2 + (fraction * bound) / 2);
}
