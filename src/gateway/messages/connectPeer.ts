import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { ConnectPeer } from "../../dm/transports/peer/peerContext.js";
import { createClient } from "../../rpc/clients/connectClient.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { LeafSource } from "../../rpc/tls/leafCertificate.js";
import { parsePin } from "../../rpc/tls/pin.js";
import { pinnedCredentials } from "../../rpc/tls/pinnedCredentials.js";

/** Dials peers under our key, each by its own connection that accepts the peer's pinned key alone. */
export function createConnectPeer({
  leaves,
  clock,
  log,
}: {
  readonly leaves: LeafSource;
  readonly clock: Clock;
  readonly log: Logger;
}): ConnectPeer {
  return (peer, onOtherKey) => {
    const serverPin = parsePin(peer.pin);
    if (serverPin === undefined) throw new RpcError("PEER_PIN_MISMATCH");
    const client = createClient({
      address: peer.address,
      purpose: "tcpStream",
      ownConnection: true,
      credentials: pinnedCredentials({
        leaves,
        serverPin,
        now: () => clock.now(),
        onVerdict: (verdict) => {
          if (verdict.kind === "known") return;
          log.warn({ peer: peer.name, verdict }, "the peer's key is not the pinned one");
          onOtherKey?.();
        },
      }),
    });
    return {
      client,
      close: () => {
        client.close();
      },
    };
  };
}
