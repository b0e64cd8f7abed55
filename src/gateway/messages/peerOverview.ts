import type { Clock } from "../../base/clock.js";
import type { BookedPeer, PeerBook } from "../../dm/peers/peerBook.js";
import type { PeerClock } from "../../dm/peers/peerClocks.js";
import type { PeerRoster } from "../../dm/peers/peerRosters.js";
import type { PeerWay } from "../../dm/transports/peer/peerWay.js";
import { BreakerState, type Destination, type Peer, PeerLink } from "../../gen/talaria/gateway/v1/admin_service.js";
import { Liveness } from "../../gen/talaria/dm/v1/roster.js";
import { reasonError } from "../../rpc/rpcError.js";
import { toFailure } from "../../rpc/wire/failure.js";
import { toOptionalTimestamp, toTimestamp } from "../../rpc/wire/times.js";
import type { StoredDestination } from "../../store/deliveries/destinations.js";
import { readDestination } from "../../store/deliveries/destinations.js";
import { waitingByGateway } from "../../store/queries/waitingByGateway.js";
import type { Reader } from "../../store/reader.js";

/** What an operator sees of the other gateways. */
export interface PeerOverview {
  /** The paired gateways and connectors by name. */
  peers(): readonly Peer[];
  /** One of them. @throws RpcError UNKNOWN_PEER. */
  peer(name: string): Peer;
  /** The gateways that messages go to, by name. */
  destinations(): readonly Destination[];
  /** One of them. @throws RpcError UNKNOWN_PEER. */
  destination(name: string): Destination;
}

/** What {@link createPeerOverview} reads from. */
export interface PeerOverviewOptions {
  readonly reader: Reader;
  readonly peers: PeerBook;
  /** The way to a peer; undefined where there is none. */
  readonly wayTo: (name: string) => PeerWay | undefined;
  /** What a peer has said of its agents. */
  readonly rosterOf: (name: string) => PeerRoster | undefined;
  /** A peer's clock beside this gateway's. */
  readonly clockOf: (name: string) => PeerClock | undefined;
  readonly clock: Clock;
}

/** Largest number that the contract has room for as an error of a clock. */
const ERROR_MAX = 0xffff_ffff;

/** Reads the overview from the peers, the ways to them, and what the store knows of each. */
export function createPeerOverview({
  reader,
  peers,
  wayTo,
  rosterOf,
  clockOf,
  clock,
}: PeerOverviewOptions): PeerOverview {
  const toPeer = ({ name, address, pin, connector, grants, pairedAt }: BookedPeer): Peer => {
    const { lastError, failures } = readDestination(reader, name);
    const way = wayTo(name);
    const roster = rosterOf(name);
    const theirs = clockOf(name);
    return {
      name,
      address,
      pin,
      connector,
      agents: [...(grants ?? [])],
      link: linkOf(address, way, failures),
      info: way?.info,
      pairedAt: toOptionalTimestamp(pairedAt),
      lastSeenAt: toOptionalTimestamp(way?.seenAt),
      lastError: lastError === undefined ? undefined : toFailure(lastError),
      roster: (roster?.rows ?? []).map((row) => ({ ...row, liveness: Liveness.LIVENESS_UNSPECIFIED, address: "" })),
      rosterReadAt: toOptionalTimestamp(roster?.readAt),
      clock: theirs && {
        aheadMs: BigInt(Math.round(theirs.aheadMs)),
        errorMs: Math.min(Math.ceil(theirs.errorMs), ERROR_MAX),
        readAt: toTimestamp(theirs.readAt),
      },
    };
  };
  const overview: PeerOverview = {
    peers: () => peers.everyone().map(toPeer),
    peer(name) {
      const peer = peers.named(name);
      if (peer === undefined) throw reasonError("UNKNOWN_PEER");
      return toPeer(peer);
    },
    destination(name) {
      const found = overview.destinations().find((destination) => destination.name === name);
      if (found === undefined) throw reasonError("UNKNOWN_PEER");
      return found;
    },
    destinations: () =>
      reader.snapshot((at) => {
        const waiting = new Map(waitingByGateway(at).map((counts) => [counts.gateway, counts]));
        const names = new Set([...peers.list().map(({ name }) => name), ...waiting.keys()]);
        return [...names].sort().map((name) => {
          const known = readDestination(at, name);
          return {
            name,
            waiting: BigInt(waiting.get(name)?.waiting ?? 0),
            claimed: BigInt(waiting.get(name)?.claimed ?? 0),
            breaker: breakerOf(known, clock.now()),
            nextAttemptAt: toOptionalTimestamp(known.nextAttemptAt),
            failures: known.failures,
            lastError: known.lastError === undefined ? undefined : toFailure(known.lastError),
            heldBy: known.hold?.by ?? "",
            heldAt: toOptionalTimestamp(known.hold?.at),
            holdReason: known.hold?.reason ?? "",
            resetBy: known.reset?.by ?? "",
            resetAt: toOptionalTimestamp(known.reset?.at),
          };
        });
      }),
  };
  return overview;
}

function linkOf(address: string, way: PeerWay | undefined, failures: number): PeerLink {
  if (way?.connected === true) return PeerLink.PEER_LINK_UP;
  if (address === "") return PeerLink.PEER_LINK_INBOUND_ONLY;
  return failures > 0 || way?.info !== undefined ? PeerLink.PEER_LINK_DOWN : PeerLink.PEER_LINK_UNSPECIFIED;
}

function breakerOf({ failures, nextAttemptAt }: StoredDestination, now: number): BreakerState {
  if (failures === 0) return BreakerState.BREAKER_STATE_CLOSED;
  const isDue = nextAttemptAt === undefined || nextAttemptAt <= now;
  return isDue ? BreakerState.BREAKER_STATE_HALF_OPEN : BreakerState.BREAKER_STATE_OPEN;
}
