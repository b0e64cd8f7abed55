import type { Clock } from "../../base/clock.js";
import type { RosterEntry } from "../../gen/talaria/dm/v1/roster.js";
import type { PeerDirectory } from "../ports/directory.js";
import { readRelayRows, type RelayRow } from "../relay/relayRow.js";
import { ROSTER_FRESH_MS } from "../relay/relayRosters.js";

/** Age after which what a peer said of its agents is not shown any more, milliseconds: a day. */
export const ROSTER_KEPT_MS = 24 * 60 * 60 * 1_000;

/** What a peer has said of the agents that this gateway may reach there. Its texts are shown, never parsed. */
export interface PeerRoster {
  /** Checked and cut, by name; at most 1,000. */
  readonly rows: readonly RelayRow[];
  /** The peer's own name for this content. */
  readonly fingerprint: string;
  /** When the peer last confirmed it, epoch milliseconds. */
  readonly readAt: number;
  /** Whether it was confirmed lately enough to say who is there. */
  readonly fresh: boolean;
}

/** The rosters of peers. In memory: they are read again whenever a peer is connected. */
export interface PeerRosters {
  /** Replaces a peer's roster. */
  store(peer: string, entries: readonly RosterEntry[], fingerprint: string): void;
  /** Says that a peer's roster is what it was. */
  confirm(peer: string): void;
  /** A peer's roster; undefined where there is none, it is too old, or the peer is none any more. */
  get(peer: string): PeerRoster | undefined;
}

/** Longest fingerprint that is kept, characters. */
const FINGERPRINT = 64;

/** Makes rosters that hold nothing. */
export function createPeerRosters(peers: Pick<PeerDirectory, "get">, clock: Clock): PeerRosters {
  const known = new Map<string, { rows: readonly RelayRow[]; fingerprint: string; readAt: number; since: number }>();
  return {
    store(peer, entries, fingerprint) {
      known.set(peer, {
        rows: readRelayRows(entries),
        fingerprint: fingerprint.slice(0, FINGERPRINT),
        readAt: clock.now(),
        since: clock.monotonic(),
      });
    },
    confirm(peer) {
      const roster = known.get(peer);
      if (roster === undefined) return;
      roster.readAt = clock.now();
      roster.since = clock.monotonic();
    },
    get(peer) {
      const roster = known.get(peer);
      const entry = peers.get(peer);
      const age = roster === undefined ? Infinity : clock.monotonic() - roster.since;
      if (roster === undefined || entry === undefined || age > ROSTER_KEPT_MS) {
        known.delete(peer);
        return undefined;
      }
      const { rows, fingerprint, readAt } = roster;
      return { rows, fingerprint, readAt, fresh: age < ROSTER_FRESH_MS };
    },
  };
}
