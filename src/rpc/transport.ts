import type { Socket } from "node:net";
import type { Server as TlsServer, TLSSocket, TlsOptions } from "node:tls";
import type { PeerCredentials } from "./peerCredentials.js";
import type { PeerIdentity } from "./peerIdentity.js";
import type { HandshakeLimits } from "./tls/handshakeGate.js";

/** A Unix socket, with mode 0600. */
export interface UnixTransport {
  readonly kind: "unix";
  /** At most 100 bytes; its directory must exist and be private. */
  readonly path: string;
  /**
   * Judges a connection before any byte of it is read, and throws to refuse it. `peer` is undefined where the system does not
   * say who connected.
   */
  readonly peerCheck?: (peer: PeerCredentials | undefined, socket: Socket) => void;
}

/** TCP without TLS, for loopback addresses. */
export interface TcpTransport {
  readonly kind: "tcp";
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** TCP with TLS. */
export interface TlsTransport {
  readonly kind: "tls";
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Must offer `h2` by ALPN. */
  readonly tlsOptions: TlsOptions;
  /**
   * Judges a finished handshake before any byte reaches HTTP/2. Undefined refuses the connection; `"anonymous"` accepts a
   * client that presented nothing.
   */
  readonly authorize: (socket: TLSSocket) => PeerIdentity | "anonymous" | undefined;
  /** Replaces single ones of the listener's limits on handshakes. */
  readonly handshakes?: Partial<HandshakeLimits>;
  /** Is given the server before it has connections, for example to keep its certificate fresh. */
  readonly onServer?: (server: TlsServer) => void;
}

/** Where a listener listens. */
export type Transport = UnixTransport | TcpTransport | TlsTransport;
