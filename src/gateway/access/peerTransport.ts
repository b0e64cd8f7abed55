import type { Clock } from "../../base/clock.js";
import type { ListenAddress } from "../../base/config/gatewayConfig.js";
import type { Logger } from "../../base/logger.js";
import type { PeerBook } from "../../dm/peers/peerBook.js";
import type { LeafSource } from "../../rpc/tls/leafCertificate.js";
import { authorizePeer, keepLeafFresh, serverTlsOptions } from "../../rpc/tls/serverTls.js";
import type { TlsTransport } from "../../rpc/transport.js";

/** The transport of the peer listener: TLS with pinned keys on both sides. */
export function peerTransport(
  address: ListenAddress,
  { leaves, peers, clock, log }: { leaves: LeafSource; peers: PeerBook; clock: Clock; log: Logger },
): TlsTransport {
  return {
    kind: "tls",
    ...address,
    tlsOptions: serverTlsOptions(leaves),
    authorize(socket) {
      const verdict = authorizePeer(socket, peers.pins, clock.now());
      if (verdict.kind === "refused") {
        log.warn({ problem: verdict.problem, detail: verdict.detail }, "peer refused");
        return undefined;
      }
      return peers.identify(verdict.pin);
    },
    onServer: (server) => {
      keepLeafFresh(server, leaves);
    },
  };
}
