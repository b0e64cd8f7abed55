import type { PeerWay } from "../../dm/transports/peer/peerWay.js";
import { readDestination } from "../../store/deliveries/destinations.js";
import type { Queryable } from "../../store/sql.js";

/** Whether a peer can be reached: its receipts are being watched, or the last try failed; undefined where neither is known. */
export function reachability(
  reader: Queryable,
  wayTo: (name: string) => PeerWay | undefined,
): (peer: string) => boolean | undefined {
  return (peer) => {
    const way = wayTo(peer);
    if (way?.connected === true) return true;
    return way !== undefined && readDestination(reader, peer).failures > 0 ? false : undefined;
  };
}
