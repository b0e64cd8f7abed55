import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";
import type { Duration } from "../../gen/google/protobuf/duration.js";

/** Epoch milliseconds as the contract writes them. */
export function toTimestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round(ms - seconds * 1_000) * 1_000_000 };
}

/** {@link toTimestamp}, where a moment may be missing. */
export function toOptionalTimestamp(ms: number | undefined): Timestamp | undefined {
  return ms === undefined ? undefined : toTimestamp(ms);
}

/** A moment in epoch milliseconds; undefined where there is none or it lies outside what numbers carry exactly. */
export function fromTimestamp(moment: Timestamp | undefined): number | undefined {
  if (moment === undefined) return undefined;
  const ms = Number(moment.seconds) * 1_000 + Math.floor(moment.nanos / 1_000_000);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** Milliseconds as a duration. */
export function toDuration(ms: number): Duration {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round(ms - seconds * 1_000) * 1_000_000 };
}

/** A duration in milliseconds; undefined where there is none. */
export function fromDuration(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : Number(duration.seconds) * 1_000 + Math.floor(duration.nanos / 1_000_000);
}
