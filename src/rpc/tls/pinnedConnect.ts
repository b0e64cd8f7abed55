import type { Socket } from "node:net";
import { connect, createSecureContext } from "node:tls";
import type { SecureContext, TLSSocket } from "node:tls";
import { LEAF_DNS_NAME } from "./leafCertificate.js";
import type { Leaf, LeafSource } from "./leafCertificate.js";
import { PeerPinError } from "./peerPinError.js";
import { verifyPeer } from "./peerVerifier.js";
import type { PeerVerdict } from "./peerVerifier.js";
import type { Pin } from "./pin.js";
import { presentedChain } from "./presentedChain.js";
import { TLS_HANDSHAKE_TIMEOUT_MS } from "./serverTls.js";

/** What a client presents, what it expects, and who is told. */
export interface PinnedConnectOptions {
  /** Our own leaves; the one that is held at the time is presented, so refresh before. Absent: nothing is presented. */
  readonly leaves?: LeafSource;
  /** The key that the server must prove. */
  readonly serverPin: Pin;
  /** The current time, milliseconds since the Unix epoch. */
  readonly now: () => number;
  /** Tolerance of validity, milliseconds; default a day. */
  readonly clockSkewMs?: number;
  /** How long the server may stay silent during the handshake, milliseconds; default {@link TLS_HANDSHAKE_TIMEOUT_MS}. */
  readonly handshakeTimeoutMs?: number;
  /**
   * Told the verdict on every connection attempt whose handshake finished, before the connection is used or dropped:
   * grpc-js reports any failure to connect as UNAVAILABLE. If it throws, the connection is dropped.
   */
  readonly onVerdict?: (verdict: PeerVerdict) => void;
}

/**
 * Does the client's side of TLS on a connected socket and checks the server's key. Resolves with a socket on which
 * nothing but the handshake has been sent.
 *
 * @throws PeerPinError if the server proved another key or none; TLS and socket errors as they are. The socket is
 *   destroyed in every failure.
 */
export function connectPinned(socket: Socket, options: PinnedConnectOptions): Promise<TLSSocket> {
  const { serverPin, handshakeTimeoutMs = TLS_HANDSHAKE_TIMEOUT_MS } = options;
  return new Promise((resolve, reject) => {
    const leaf = options.leaves?.currentLeaf();
    const tlsSocket = connect({
      socket,
      secureContext: contextOf(leaf),
      // The chain ends in a key we may not have seen before; the check below replaces the built-in one.
      rejectUnauthorized: false,
      ALPNProtocols: ["h2"],
      // A fixed name: the host's is not checked, and an IP address is not allowed here.
      servername: LEAF_DNS_NAME,
    });
    const fail = (error: Error): void => {
      tlsSocket.destroy();
      reject(error);
    };
    const onClose = (): void => {
      fail(new Error("the server closed the connection during the TLS handshake"));
    };
    // Without it a server that accepts and says nothing would keep the channel connecting for ever.
    const onTimeout = (): void => {
      fail(new Error(`the server was silent for ${handshakeTimeoutMs} ms during the TLS handshake`));
    };
    // Stays attached: an error between here and grpc-js's own listener would otherwise be an uncaught exception.
    tlsSocket.on("error", fail);
    tlsSocket.once("close", onClose);
    tlsSocket.setTimeout(handshakeTimeoutMs, onTimeout);
    tlsSocket.once("secureConnect", () => {
      tlsSocket.removeListener("close", onClose);
      tlsSocket.setTimeout(0, onTimeout);
      try {
        const verdict = judgeServer(tlsSocket, options);
        options.onVerdict?.(verdict);
        if (verdict.kind !== "known") throw new PeerPinError(serverPin, verdict);
        if (tlsSocket.alpnProtocol !== "h2") throw new Error("the server does not speak HTTP/2");
        resolve(tlsSocket);
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

const contexts = new WeakMap<Leaf, SecureContext>();
let anonymous: SecureContext | undefined;

/** Parses each leaf once: it takes as long as all the rest of a handshake. Nothing of one connection is kept for the next in it. */
function contextOf(leaf: Leaf | undefined): SecureContext {
  if (leaf === undefined) return (anonymous ??= createSecureContext({ ca: [], minVersion: "TLSv1.3" }));
  let context = contexts.get(leaf);
  if (context === undefined) {
    context = createSecureContext({ key: leaf.privateKeyPem, cert: leaf.chainPem, ca: [], minVersion: "TLSv1.3" });
    contexts.set(leaf, context);
  }
  return context;
}

function judgeServer(socket: TLSSocket, options: PinnedConnectOptions): PeerVerdict {
  const { serverPin, clockSkewMs } = options;
  return verifyPeer({
    chain: presentedChain(socket),
    nowMs: options.now(),
    pins: { has: (pin) => pin === serverPin },
    ...(clockSkewMs === undefined ? {} : { clockSkewMs }),
  });
}
