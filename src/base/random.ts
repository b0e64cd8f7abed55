import { randomBytes } from "node:crypto";

/** The only source of chance; injected so that a test repeats. */
export interface Random {
  /** `length` unpredictable bytes. */
  bytes(length: number): Buffer;
  /** A number in [0, 1), for jitter. */
  fraction(): number;
}

/** The machine's cryptographic random source. */
export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  fraction: () => randomBytes(4).readUInt32LE(0) / 0x1_0000_0000,
};
