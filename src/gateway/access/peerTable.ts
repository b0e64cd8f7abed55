import type { PeerConfig } from "../../base/config/gatewayConfig.js";
import { ConfigError } from "../../base/configError.js";
import type { Authenticate } from "../../rpc/authentication.js";
import type { PeerIdentity } from "../../rpc/peerIdentity.js";
import { RpcError } from "../../rpc/rpcError.js";
import type { Pin, PinLookup } from "../../rpc/tls/pin.js";
import { parsePin } from "../../rpc/tls/pin.js";
import { isHealthMethod } from "./methodRoles.js";

/** The paired gateways of a home. */
export interface PeerTable {
  /** Says which keys are paired. */
  readonly pins: PinLookup;
  /** Whose key a pin names. */
  identify(pin: Pin): PeerIdentity;
}

/** Reads the peers of the configuration. @throws ConfigError for a pin that is none, or that two peers share. */
export function createPeerTable(peers: Readonly<Record<string, PeerConfig>>, configFile: string): PeerTable {
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
  return {
    pins: { has: (pin) => names.has(pin) },
    identify(pin) {
      const name = names.get(pin);
      return name === undefined ? { kind: "unknown", pin } : { kind: "peer", name, pin };
    },
  };
}

const PAIR_METHOD = "/talaria.dm.v1.PeerService/Pair";

/** Authenticates calls of the peer listener by the key of the connection; an unknown key may only pair and look at health. */
export const peerAuthentication: Authenticate = ({ connection, method }) => {
  const { identity } = connection;
  if (identity === undefined) throw new RpcError("UNAUTHENTICATED");
  if (identity.kind !== "unknown") return identity;
  if (method === PAIR_METHOD || isHealthMethod(method)) return { kind: "anonymous", pin: identity.pin };
  throw new RpcError("PEER_KEY_UNKNOWN");
};
