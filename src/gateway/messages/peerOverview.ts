import type { Clock } from "../../base/clock.js";
import type { PeerEntry } from "../../dm/ports/directory.js";
import { BreakerState, type Destination, type Peer, PeerLink } from "../../gen/talaria/gateway/v1/admin_service.js";
import { toFailure } from "../../rpc/wire/failure.js";
import { toOptionalTimestamp } from "../../rpc/wire/times.js";
import type { StoredDestination } from "../../store/deliveries/destinations.js";
import { readDestination } from "../../store/deliveries/destinations.js";
import { waitingByGateway } from "../../store/queries/waitingByGateway.js";
import type { Reader } from "../../store/reader.js";

/** What an operator sees of the other gateways. */
export interface PeerOverview {
  /** The paired gateways by name. */
  peers(): readonly Peer[];
  /** The gateways that messages go to, by name. */
  destinations(): readonly Destination[];
}

/** Reads the overview from the configured peers and what the store knows of each. */
export function createPeerOverview(reader: Reader, peers: readonly PeerEntry[], clock: Clock): PeerOverview {
  return {
    peers: () =>
      peers.map(({ name, address, pin, agents }) => {
        const known = readDestination(reader, name);
        return {
          name,
          address,
          pin,
          connector: false,
          agents: [...(agents ?? [])],
          link: linkOf(known),
          info: undefined,
          pairedAt: undefined,
          lastSeenAt: undefined,
          lastError: known.lastError === undefined ? undefined : toFailure(known.lastError),
        };
      }),
    destinations: () =>
      reader.snapshot((at) => {
        const waiting = new Map(waitingByGateway(at).map((counts) => [counts.gateway, counts]));
        const names = new Set([...peers.map(({ name }) => name), ...waiting.keys()]);
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
            heldBy: "",
            heldAt: undefined,
            holdReason: "",
          };
        });
      }),
  };
}

/** A database that has said its name has been reached before; failures in a row say that it is not any more. */
function linkOf({ failures, storeId }: StoredDestination): PeerLink {
  if (failures > 0) return PeerLink.PEER_LINK_DOWN;
  return storeId === "" ? PeerLink.PEER_LINK_UNSPECIFIED : PeerLink.PEER_LINK_UP;
}

function breakerOf({ failures, nextAttemptAt }: StoredDestination, now: number): BreakerState {
  if (failures === 0) return BreakerState.BREAKER_STATE_CLOSED;
  const isDue = nextAttemptAt === undefined || nextAttemptAt <= now;
  return isDue ? BreakerState.BREAKER_STATE_HALF_OPEN : BreakerState.BREAKER_STATE_OPEN;
}
