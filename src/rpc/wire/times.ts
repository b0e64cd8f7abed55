import type { Duration } from "../../gen/google/protobuf/duration.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";

/** Epoch milliseconds as the contract writes them. */
export function toTimestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1_000) * 1_000_000) };
}

/** {@link toTimestamp}, where a moment may be missing. */
export function toOptionalTimestamp(ms: number | null | undefined): Timestamp | undefined {
  return ms === null || ms === undefined ? undefined : toTimestamp(ms);
}

/** The years 1 to 9999, epoch milliseconds: what the contract's moments may be, and what every client can show. */
const EARLIEST_MS = Date.parse("0001-01-01T00:00:00Z");
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** A moment in epoch milliseconds; undefined where there is none or it lies outside the years 1 to 9999. */
export function fromTimestamp(moment: Timestamp | undefined): number | undefined {
  if (moment === undefined) return undefined;
  const ms = Number(moment.seconds) * 1_000 + Math.floor(moment.nanos / 1_000_000);
  return ms >= EARLIEST_MS && ms <= LATEST_MS ? ms : undefined;
}

/** Milliseconds, 0 or more, as the contract writes a duration. */
export function toDuration(ms: number): Duration {
  return toTimestamp(ms);
}

/** A duration in milliseconds; undefined where there is none. */
export function fromDuration(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : Number(duration.seconds) * 1_000 + duration.nanos / 1_000_000;
}
