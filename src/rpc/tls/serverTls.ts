import { constants } from "node:crypto";
import type { Server, TLSSocket, TlsOptions } from "node:tls";
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
 * The options hold the leaf as it is; {@link keepLeafFresh} replaces it in the running server.
 */
export function serverTlsOptions(leaf: Leaf): TlsOptions {
  return {
    key: leaf.privateKeyPem,
    cert: leaf.chainPem,
    // An empty list instead of the public roots: no certificate that was not presented can complete a chain.
    ca: [],
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: "TLSv1.3",
    ALPNProtocols: ["h2"],
    handshakeTimeout: TLS_HANDSHAKE_TIMEOUT_MS,
    // A resumed session presents no chain and would outlive a revocation. Without stateless tickets the server would
    // have to store sessions to resume them, and nothing here does.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/**
 * Makes a server present the current leaf on every new connection, without a timer. Connections that exist keep theirs.
 *
 * @param server made with {@link serverTlsOptions}
 * @returns stops doing so
 */
export function keepLeafFresh(server: Server, leaves: LeafSource): () => void {
  let presented: Leaf | undefined;
  const refresh = (): void => {
    const leaf = leaves.currentLeaf();
    if (leaf === presented) return;
    presented = leaf;
    server.setSecureContext(serverTlsOptions(leaf));
  };
  refresh();
  // Before the listener of tls.Server itself, which takes the secure context when the TCP connection arrives.
  server.prependListener("connection", refresh);
  return () => {
    server.removeListener("connection", refresh);
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
