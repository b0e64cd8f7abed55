import type { PeerConfig } from "../../base/config/gatewayConfig.js";
import { ConfigError } from "../../base/configError.js";
import type { PeerBook } from "../../dm/peers/peerBook.js";
import type { Authenticate } from "../../rpc/authentication.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { Pin } from "../../rpc/tls/pin.js";
import { parsePin } from "../../rpc/tls/pin.js";
import { isHealthMethod } from "./methodRoles.js";

/** Checks the peers of the configuration. @throws ConfigError for a pin that is none, or that two peers share. */
export function checkPeerPins(peers: Readonly<Record<string, PeerConfig>>, configFile: string): void {
  const names = new Map<Pin, string>();
  for (const [name, { pin: text }] of Object.entries(peers)) {
    const pin = parsePin(text);
    const key = `peers.${name}.pin`;
    if (pin === undefined) {
      const hint = "copy it from talaria status of the peer";
      throw new ConfigError({ file: configFile, key, problem: "must be sha256: and 43 characters", hint });
    }
    const other = names.get(pin);
    if (other !== undefined)
      throw new ConfigError({ file: configFile, key, problem: `is the pin of ${other} already` });
    names.set(pin, name);
  }
}

const PAIR_METHOD = "/talaria.dm.v1.PeerService/Pair";

/**
 * Authenticates calls of the peer listener by the key of the connection, as the book knows it at the call; an unknown key may only
 * pair and look at health.
 */
export function peerAuthentication(peers: Pick<PeerBook, "identify" | "isRevoked">): Authenticate {
  return ({ connection, method }) => {
    const presented = connection.identity;
    if (presented === undefined) throw new RpcError("UNAUTHENTICATED");
    const pin = parsePin(presented.pin);
    const identity = pin === undefined ? presented : peers.identify(pin);
    if (identity.kind !== "unknown") return identity;
    if (method === PAIR_METHOD || isHealthMethod(method)) return { kind: "anonymous", pin: identity.pin };
    throw new RpcError(peers.isRevoked(identity.pin) ? "PEER_REVOKED" : "PEER_KEY_UNKNOWN");
  };
}
