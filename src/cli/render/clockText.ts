import type { PeerClock } from "../../gen/talaria/gateway/v1/admin_service.js";
import { span } from "./span.js";

/** Differences below this are not worth a word, milliseconds. */
const SECOND_MS = 1_000;

/** How far a peer's clock is off in either direction beyond what the way to it may hide, milliseconds; 0 where it is not known. */
export function surelyOffMs(clock: PeerClock | undefined): number {
  if (clock === undefined) return 0;
  return Math.max(0, Math.abs(Number(clock.aheadMs)) - clock.errorMs);
}

/** A peer's clock beside this gateway's, such as `3h ahead`; empty where it agrees to a second or is not known. */
export function clockText(clock: PeerClock | undefined): string {
  if (clock === undefined || surelyOffMs(clock) < SECOND_MS) return "";
  const ahead = Number(clock.aheadMs);
  return `${span(Math.abs(ahead))} ${ahead > 0 ? "ahead" : "behind"}`;
}
