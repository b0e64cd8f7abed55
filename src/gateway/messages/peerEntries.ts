import type { GatewayConfig } from "../../base/config/gatewayConfig.js";
import type { PeerEntry } from "../../dm/ports/directory.js";

/** The configured peers, by name. */
export function peerEntries({ peers }: Pick<GatewayConfig, "peers">): readonly PeerEntry[] {
  return Object.entries(peers)
    .map(([name, peer]): PeerEntry => ({ name, ...peer }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
