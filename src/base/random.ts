import { randomBytes, randomFillSync } from "node:crypto";

/** The only source of chance; injected so that a test repeats. */
export interface Random {
  /** `length` unpredictable bytes. */
  bytes(length: number): Buffer;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}

/** Bytes that are fetched from the machine at a time: a call for a few costs nearly what one for many does. */
const POOL_BYTES = 4_096;
/** Longest request that is served from them. */
const POOLED_BYTES = 64;

const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** Gives each byte of the pool out once, and leaves none of it there. */
function takeBytes(length: number): Buffer {
  if (length > POOLED_BYTES) return randomBytes(length);
  if (used + length > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = Buffer.from(pool.subarray(used, used + length));
  pool.fill(0, used, used + length);
  used += length;
  return taken;
}

/** The machine's cryptographic random source. */
export const systemRandom: Random = {
  bytes: takeBytes,
  fraction: () => takeBytes(4).readUInt32LE(0) / 0x1_0000_0000,
};
