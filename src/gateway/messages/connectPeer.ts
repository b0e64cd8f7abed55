import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { ConnectPeer } from "../../dm/transports/peer/peerContext.js";
import { createClient } from "../../rpc/clients/connectClient.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { LeafSource } from "../../rpc/tls/leafCertificate.js";
import type { RejectedVerdict } from "../../rpc/tls/peerPinError.js";
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
  return (peer, onRefused) => {
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
          const why = refusalOf(verdict);
          log.warn({ peer: peer.name, verdict }, why.message);
          onRefused?.(why);
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

/** A certificate outside its dates tells of a clock, and nothing of the key. */
function refusalOf(verdict: RejectedVerdict): RpcError {
  const dates = verdict.kind === "refused" && (verdict.problem === "not_yet_valid" || verdict.problem === "expired");
  if (!dates) return new RpcError("PEER_PIN_MISMATCH");
  return new RpcError("PEER_UNREACHABLE", {
    message: `The peer's certificate is outside its dates by more than a day (${verdict.detail}): its clock or this one is wrong.`,
    hint: "Compare the clocks of both machines and set the one that is wrong; a time service keeps it right.",
  });
}
