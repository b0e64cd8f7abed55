import { constants } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { SecureContext, SecureContextOptions, Server, TLSSocket, TlsOptions } from "node:tls";
import type { Leaf, LeafSource } from "./leafCertificate.js";
import { verifyPeer } from "./peerVerifier.js";
import type { PeerVerdict } from "./peerVerifier.js";
import type { PinLookup } from "./pin.js";
import { presentedChain } from "./presentedChain.js";

/** How long a client may take for its handshake, milliseconds. */
export const TLS_HANDSHAKE_TIMEOUT_MS = 10_000;

/**
 * Options for `tls.createServer` of the peer listener: TLS 1.3, HTTP/2 only, a certificate asked for and accepted
 * whatever it is, because {@link authorizePeer} judges it. No connection may be used before that.
 *
 * A client that sends a server name, as ours do, waits until the leaf is refreshed. Any other client gets the leaf that
 * is held now, or the one that {@link keepLeafFresh} puts into the running server.
 */
export function serverTlsOptions(leaves: LeafSource): TlsOptions {
  const contextOf = contextOfLatestLeaf();
  return {
    ...contextOptions(leaves.currentLeaf()),
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: ["h2"],
    handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
    SNICallback: (_serverName, done) => {
      leaves
        .refresh()
        .then(contextOf)
        .then(
          (context) => {
            done(null, context);
          },
          (error: unknown) => {
            done(error instanceof Error ? error : new Error(String(error)));
          },
        );
    },
  };
}

function contextOptions(leaf: Leaf): SecureContextOptions {
  return {
    key: leaf.privateKeyPem,
    cert: leaf.chainPem,
    // An empty list instead of the public roots: no certificate that was not presented can complete a chain.
    ca: [],
    minVersion: "TLSv1.3",
    // A resumed session presents no chain and would outlive a revocation. Without stateless tickets the server would
    // have to store sessions to resume them, and nothing here does.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Parses each leaf once instead of once per connection. */
function contextOfLatestLeaf(): (leaf: Leaf) => SecureContext {
  let latest: { readonly leaf: Leaf; readonly context: SecureContext } | undefined;
  return (leaf) => {
    if (latest?.leaf !== leaf) latest = { leaf, context: createSecureContext(contextOptions(leaf)) };
    return latest.context;
  };
}

/**
 * Makes a server present a fresh leaf to clients that send no server name too, without a timer: each connection has the
 * leaf refreshed for those after it. Connections that exist keep theirs.
 *
 * @param server made with {@link serverTlsOptions}
 * @returns stops doing so
 */
export function keepLeafFresh(server: Server, leaves: LeafSource): () => void {
  let presented: Leaf | undefined;
  const present = (leaf: Leaf): void => {
    if (leaf === presented) return;
    presented = leaf;
    server.setSecureContext(contextOptions(leaf));
  };
  const onConnection = (): void => {
    present(leaves.currentLeaf());
    // A failure is left to the next connection; clients with a server name are told of it by the callback above.
    leaves.refresh().then(present, () => undefined);
  };
  present(leaves.currentLeaf());
  // Before the listener of tls.Server itself, which takes the secure context when the TCP connection arrives.
  server.prependListener("connection", onConnection);
  return () => {
    server.removeListener("connection", onConnection);
  };
}

/**
 * Judges the client of a finished handshake; to be called at `secureConnection`, before any byte reaches HTTP/2.
 *
 * - `known`: a peer, its calls are made under `pin`.
 * - `unknown`: may call `Pair` only, under `pin`.
 * - `refused`: destroy the socket and log `problem`; the client sees a closed connection.
 *
 * @param nowMs the current time, milliseconds since the Unix epoch
 * @param clockSkewMs tolerance of validity, milliseconds; default a day
 */
export function authorizePeer(socket: TLSSocket, pins: PinLookup, nowMs: number, clockSkewMs?: number): PeerVerdict {
  if (socket.isSessionReused()) {
    return { kind: "refused", problem: "session_resumed", detail: "the client resumed a session" };
  }
  return verifyPeer({
    chain: presentedChain(socket),
    nowMs,
    pins,
    ...(clockSkewMs === undefined ? {} : { clockSkewMs }),
  });
}
