import type { Duration } from "../../gen/google/protobuf/duration.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";

/** The contract's form of a time in milliseconds since the Unix epoch. */
export function toTimestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1_000) * 1_000_000) };
}

/** As {@link toTimestamp}; undefined for none. */
export function toOptionalTimestamp(ms: number | null | undefined): Timestamp | undefined {
  return ms === null || ms === undefined ? undefined : toTimestamp(ms);
}

/** The contract's form of a length in milliseconds, 0 or more. */
export function toDuration(ms: number): Duration {
  return toTimestamp(ms);
}

/** A duration in milliseconds. */
export function fromDuration({ seconds, nanos }: Duration): number {
  return Number(seconds) * 1_000 + nanos / 1_000_000;
}
