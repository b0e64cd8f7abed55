import type { Clock } from "../../base/clock.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";
import { fromTimestamp } from "../../rpc/wire/times.js";
import type { PeerDirectory } from "../ports/directory.js";
import { type ClockDifference, clockDifference } from "./clockDifference.js";

/** Age after which what is known of a peer's clock is not shown any more, milliseconds: a day, as for rosters. */
export const CLOCK_KEPT_MS = 24 * 60 * 60 * 1_000;

/** A peer's clock beside this gateway's. It is shown, never reckoned with. */
export interface PeerClock extends ClockDifference {
  /** When it was asked for, epoch milliseconds. */
  readonly readAt: number;
}

/** The clocks of peers. In memory: they are read again whenever a peer is connected. */
export interface PeerClocks {
  /**
   * Keeps what a peer has just answered.
   * @param said its clock; without one, what is known stays
   * @param askedAt when it was asked, on the monotonic clock
   */
  heard(peer: string, said: Timestamp | undefined, askedAt: number): void;
  /** A peer's clock; undefined where it has not told it, too long ago, or is a peer no more. */
  get(peer: string): PeerClock | undefined;
}

/** Makes clocks of which none is known. */
export function createPeerClocks(peers: Pick<PeerDirectory, "get">, clock: Clock): PeerClocks {
  const known = new Map<string, { readonly theirs: PeerClock; readonly since: number }>();
  return {
    heard(peer, said, askedAt) {
      const moment = fromTimestamp(said);
      if (moment === undefined) return;
      const [answeredAt, since] = [clock.now(), clock.monotonic()];
      const readAt = answeredAt - (since - askedAt);
      known.set(peer, { theirs: { ...clockDifference({ askedAt: readAt, answeredAt, said: moment }), readAt }, since });
    },
    get(peer) {
      const found = known.get(peer);
      if (found === undefined) return undefined;
      if (peers.get(peer) !== undefined && clock.monotonic() - found.since <= CLOCK_KEPT_MS) return found.theirs;
      known.delete(peer);
      return undefined;
    },
  };
}
