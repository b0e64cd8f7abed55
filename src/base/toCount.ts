import { LIMITS } from "./limits.js";

/** A counter of the contract as rows keep it: `LIMITS.counter` itself is one more than what is read back exactly. */
export function toCount(counter: bigint): number {
  return Math.min(Number(counter), LIMITS.counter - 1);
}
