import { credentials, type ChannelCredentials } from "@grpc/grpc-js";

import { systemClock } from "../base/clock.js";
import { RpcError } from "../rpc/rpcError.js";
import { parsePin } from "../rpc/tls/pin.js";
import { pinnedCredentials } from "../rpc/tls/pinnedCredentials.js";
import type { PeerVerdict } from "../rpc/tls/peerVerifier.js";

/** How a client knows a gateway over TLS. With neither, a certificate that the system's authorities have signed. */
export interface TlsTrust {
  /** PEM certificates of the authorities that may have signed the gateway's; the host's name must be in it. */
  readonly ca?: string | Buffer;
  /** Pin of the gateway's identity key, as `talaria pin` prints it there; the host's name does not matter then. */
  readonly pin?: string;
}

/**
 * Credentials of a channel over TLS.
 * @param onVerdict told what a pinned gateway has proved, at each connection
 * @throws RpcError INVALID_FIELD for a pin that is none, or beside certificates.
 */
export function tlsCredentials({ ca, pin }: TlsTrust, onVerdict?: (verdict: PeerVerdict) => void): ChannelCredentials {
  if (pin === undefined) return credentials.createSsl(ca === undefined ? null : Buffer.from(ca));
  const serverPin = parsePin(pin);
  if (serverPin === undefined || ca !== undefined) {
    throw new RpcError("INVALID_FIELD", {
      message: serverPin === undefined ? "The pin is none." : "A pin and certificates exclude one another.",
      hint: "Copy the pin from talaria pin on the gateway: sha256: and 43 characters.",
    });
  }
  return pinnedCredentials({
    serverPin,
    now: () => systemClock.now(),
    ...(onVerdict === undefined ? {} : { onVerdict }),
  });
}
