import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";

/** A short spelling of an enum's value: `SESSION_STATE_IDLE` of prefix `SESSION_STATE_` is `idle`. */
export function shortName(name: string, prefix: string): string {
  return name.slice(prefix.length).toLowerCase().replaceAll("_", " ");
}

/** A time as people read it, in this machine's zone; empty for none. */
export function localTime(at: Timestamp | undefined): string {
  if (at === undefined) return "";
  const date = new Date(Number(at.seconds) * 1_000);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${String(date.getFullYear())}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
