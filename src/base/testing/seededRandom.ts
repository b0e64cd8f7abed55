import type { Random } from "../random.js";

/** A repeatable random source for tests (xorshift32); never for a secret. */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0 || 1;
  const next = (): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  return {
    bytes: (length) => Buffer.from(Array.from({ length }, () => next() >>> 24)),
    fraction: () => next() / 0x1_0000_0000,
  };
}
