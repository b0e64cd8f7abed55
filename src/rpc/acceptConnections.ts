import type { ConnectionInjector } from "@grpc/grpc-js";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import type { ConnectionOrigin, ConnectionTable } from "./connection.js";
import { peerCredentials } from "./peerCredentials.js";
import { remoteOf } from "./remoteOf.js";
import { RpcError } from "./rpcError.js";
import { checkSocketPath, clearStaleSocket, restrictSocket } from "./socketPath.js";
import { createHandshakeGate, DEFAULT_HANDSHAKE_LIMITS } from "./tls/handshakeGate.js";
import type { TlsTransport, Transport, UnixTransport } from "./transport.js";

/** What {@link acceptConnections} needs. */
export interface AcceptOptions {
  readonly transport: Transport;
  /** Where accepted connections are entered. */
  readonly connections: ConnectionTable;
  /** Where they go to be served. */
  readonly injector: ConnectionInjector;
  readonly log: Logger;
  readonly clock: Clock;
}

/** A bound address. */
export interface Acceptor {
  /** Address for clients. */
  readonly address: string;
  /** The port that was bound; undefined on a Unix socket. */
  readonly port: number | undefined;
  /** Accepts nothing more, removes a socket file at once, and resolves when the last connection has closed. */
  stop(): Promise<void>;
}

/**
 * Listens, judges each connection before HTTP/2 sees a byte of it, and hands what may stay to grpc-js.
 * @throws RpcError SOCKET_PATH_TOO_LONG, ADDRESS_IN_USE or LISTEN_FAILED.
 */
export async function acceptConnections(options: AcceptOptions): Promise<Acceptor> {
  const { transport } = options;
  if (transport.kind === "unix") {
    checkSocketPath(transport.path);
    await clearStaleSocket(transport.path);
    const server = createServer({ pauseOnConnect: true }, (socket) => {
      acceptUnix(options, transport, socket);
    });
    await listen(server, options);
    restrictSocket(transport.path);
    return { address: `unix:${transport.path}`, port: undefined, stop: () => stopServer(server) };
  }
  const { server, stop } = transport.kind === "tcp" ? tcpServer(options) : tlsServer(options, transport);
  const port = await listen(server, options);
  const host = transport.host.includes(":") ? `[${transport.host}]` : transport.host;
  return { address: `${host}:${String(port)}`, port, stop };
}

/** A server that does not listen yet, and what {@link Acceptor.stop} does with it. */
interface Door {
  readonly server: Server;
  readonly stop: () => Promise<void>;
}

function acceptUnix(options: AcceptOptions, transport: UnixTransport, socket: Socket): void {
  const peer = peerCredentials(socket);
  try {
    transport.peerCheck?.(peer, socket);
  } catch (caught) {
    const error = RpcError.from(caught);
    options.log.warn({ peer, reason: error.reason, err: caught }, "connection refused");
    ignoreErrors(socket);
    socket.destroy();
    return;
  }
  admit(options, socket, peer === undefined ? { remote: "unix" } : { remote: "unix", peer });
}

function tcpServer(options: AcceptOptions): Door {
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    admit(options, socket, { remote: remoteOf(socket) });
  });
  return { server, stop: () => stopServer(server) };
}

function tlsServer(options: AcceptOptions, transport: TlsTransport): Door {
  const { log, clock } = options;
  // It never listens: it is given sockets when their turn has come.
  const tls = createTlsServer(transport.tlsOptions, (socket) => {
    const remote = remoteOf(socket);
    const identity = socket.alpnProtocol === "h2" ? transport.authorize(socket) : undefined;
    if (identity === undefined) {
      log.warn({ remote, alpn: socket.alpnProtocol }, "connection refused");
      ignoreErrors(socket);
      socket.destroy();
    } else admit(options, socket, identity === "anonymous" ? { remote } : { remote, identity });
    gate.over(remote);
  });
  tls.on("tlsClientError", (error, socket) => {
    log.info({ remote: remoteOf(socket), err: error }, "TLS handshake failed");
  });
  transport.onServer?.(tls);
  const limits = { ...DEFAULT_HANDSHAKE_LIMITS, ...transport.handshakes };
  const gate = createHandshakeGate({ clock, log, limits, start: (socket) => tls.emit("connection", socket) });
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    gate.arrive(socket);
  });
  return {
    server,
    stop() {
      gate.close();
      return stopServer(server);
    },
  };
}

function admit({ connections, injector, log }: AcceptOptions, socket: Socket, origin: ConnectionOrigin): void {
  ignoreErrors(socket);
  // The client may have gone between the kernel's accept and ours.
  if (socket.destroyed) return;
  const connection = connections.add(socket, origin);
  log.debug({ connection: connection.id, ...origin }, "connection accepted");
  injector.injectConnection(socket);
  socket.resume();
}

function ignoreErrors(socket: Socket): void {
  // A broken socket closes, and that is what everything here waits for.
  socket.on("error", () => undefined);
}

function listen(server: Server, { transport, log }: AcceptOptions): Promise<number | undefined> {
  const where = transport.kind === "unix" ? { path: transport.path } : { host: transport.host, port: transport.port };
  return new Promise((resolve, reject) => {
    server.on("error", (error: NodeJS.ErrnoException) => {
      // Later errors are of single connections, for example when no descriptor is left to accept one.
      if (server.listening) log.error({ err: error }, "a connection could not be accepted");
      const reason = error.code === "EADDRINUSE" ? "ADDRESS_IN_USE" : "LISTEN_FAILED";
      reject(new RpcError(reason, { message: `Cannot listen: ${error.message}.`, cause: error }));
    });
    server.listen(where, () => {
      const address = server.address();
      resolve(typeof address === "object" ? address?.port : undefined);
    });
  });
}

function stopServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}
