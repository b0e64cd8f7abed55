import type { Client } from "@grpc/grpc-js";

import type { ConnectSettings } from "../rpc/clients/connectClient.js";
import { connectClient, createClient } from "../rpc/clients/connectClient.js";
import { RpcError } from "../rpc/rpcError.js";
import type { PeerVerdict } from "../rpc/tls/peerVerifier.js";
import { isExposed, parseAddress } from "./address.js";
import type { TlsTrust } from "./tlsCredentials.js";
import { tlsCredentials } from "./tlsCredentials.js";

/** Where a gateway is, and how it and its client know one another. */
export interface GatewayEndpoint {
  /** `unix:<path>`, `<host>:<port>`, or `tls:<host>:<port>`. */
  readonly address: string;
  /** Token for TCP; it is never sent to a Unix socket. */
  readonly token?: string;
  /** Turns TLS on, and says how the gateway is known. */
  readonly tls?: TlsTrust;
}

/** A channel to a gateway, and the metadata that its calls carry. */
export interface GatewayChannel {
  readonly client: Client;
  /** `authorization`, where a token is given. */
  readonly metadata: Readonly<Record<string, string>>;
  /** What is known of the reason why the gateway cannot be reached; undefined where nothing more is known. */
  readonly problem: () => RpcError | undefined;
}

/**
 * Makes a channel that connects at its first call.
 * @throws RpcError TRANSPORT_INSECURE where a token would cross a network in the clear, INVALID_FIELD, SOCKET_PATH_TOO_LONG.
 */
export function openChannel(endpoint: GatewayEndpoint): GatewayChannel {
  const { settings, metadata, problem } = prepare(endpoint);
  return { client: createClient(settings), metadata, problem };
}

/** As {@link openChannel}, and waits until it is connected. @throws RpcError UNAVAILABLE, CONNECT_TIMEOUT, PEER_PIN_MISMATCH too. */
export async function connectChannel(
  endpoint: GatewayEndpoint,
  wait: Pick<ConnectSettings, "timeoutMs" | "signal"> = {},
): Promise<GatewayChannel> {
  const { settings, metadata, problem } = prepare(endpoint);
  try {
    return { client: await connectClient({ ...settings, ...wait }), metadata, problem };
  } catch (caught) {
    throw problem() ?? caught;
  }
}

function prepare({ address: text, token, tls }: GatewayEndpoint) {
  const address = parseAddress(text);
  const overTls = address.kind === "tcp" && (address.tls || tls !== undefined);
  if (token !== undefined && isExposed(address, overTls)) {
    throw new RpcError("TRANSPORT_INSECURE", {
      message: `The token would cross the network to ${address.target} in the clear.`,
      hint: `Use TLS: tls:${address.target}, with the certificates (CA) or the pin by which the gateway is known.`,
    });
  }
  let verdict: PeerVerdict | undefined;
  const trust = tls ?? {};
  const settings: ConnectSettings = {
    address: address.target,
    purpose: address.kind === "unix" ? "unix" : "tcp",
    ...(overTls ? { credentials: tlsCredentials(trust, (found) => (verdict = found)) } : {}),
  };
  return {
    settings,
    metadata: token === undefined || address.kind === "unix" ? {} : { authorization: `Bearer ${token}` },
    problem: () => pinProblem(address.target, trust, verdict),
  };
}

function pinProblem(target: string, { pin }: TlsTrust, verdict: PeerVerdict | undefined): RpcError | undefined {
  if (pin === undefined || verdict === undefined || verdict.kind === "known") return undefined;
  const shown = verdict.kind === "unknown" ? `the key ${verdict.pin}` : "no identity key";
  return new RpcError("PEER_PIN_MISMATCH", {
    message: `The gateway at ${target} shows ${shown}, not ${pin}.`,
    hint: "Compare with talaria pin on the gateway; if its key has changed on purpose, use the new pin.",
  });
}
