import type { Client } from "@grpc/grpc-js";
import { systemClock } from "../../src/base/clock.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { parsePin } from "../../src/rpc/tls/pin.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";

/** A key with which this process acts as a peer. */
export interface PeerKey {
  readonly pin: string;
  /** A connection of its own to a peer listener. */
  connect(server: { readonly address: string; readonly pin: string }): Client;
}

/** Makes a key. */
export async function makePeerKey(): Promise<PeerKey> {
  const now = (): number => systemClock.now();
  const identity = await ephemeralIdentity(now());
  const leaves = await leafSource(identity, now);
  return {
    pin: identity.pin,
    connect({ address, pin }) {
      const serverPin = parsePin(pin);
      if (serverPin === undefined) throw new Error("the server's pin is none");
      const credentials = pinnedCredentials({ leaves, serverPin, now });
      return createClient({ address, purpose: "tcpStream", credentials, ownConnection: true });
    },
  };
}
