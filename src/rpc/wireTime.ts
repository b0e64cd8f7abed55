import type { Duration } from "../gen/google/protobuf/duration.js";
import type { Timestamp } from "../gen/google/protobuf/timestamp.js";

/** Epoch milliseconds as the contract writes them. */
export function timestampOf(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1_000) * 1_000_000) };
}

/** As {@link timestampOf}, undefined for null. */
export function optionalTimestamp(ms: number | null): Timestamp | undefined {
  return ms === null ? undefined : timestampOf(ms);
}

/** A timestamp of the contract in epoch milliseconds. */
export function millisecondsOf(timestamp: Timestamp): number {
  return Number(timestamp.seconds) * 1_000 + timestamp.nanos / 1_000_000;
}

/** Milliseconds as the contract writes a duration. */
export function durationOf(ms: number): Duration {
  const seconds = Math.trunc(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1_000) * 1_000_000) };
}
