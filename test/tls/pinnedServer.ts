import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import type { TLSSocket } from "node:tls";
import { Client, Metadata, Server, ServerCredentials, connectivityState } from "@grpc/grpc-js";
import type { ChannelCredentials, ServiceDefinition, ServiceError } from "@grpc/grpc-js";
import type { LeafSource } from "../../src/rpc/tls/leafCertificate.js";
import type { PeerVerdict } from "../../src/rpc/tls/peerVerifier.js";
import type { PinLookup } from "../../src/rpc/tls/pin.js";
import { authorizePeer, keepLeafFresh, serverTlsOptions } from "../../src/rpc/tls/serverTls.js";

const text = {
  serialize: (value: string): Buffer => Buffer.from(value, "utf8"),
  deserialize: (bytes: Buffer): string => bytes.toString("utf8"),
};

const whoAmI = {
  path: "/talaria.test.TlsProbe/WhoAmI",
  requestStream: false,
  responseStream: false,
  requestSerialize: text.serialize,
  requestDeserialize: text.deserialize,
  responseSerialize: text.serialize,
  responseDeserialize: text.deserialize,
} as const;

const service: ServiceDefinition = { whoAmI };

/** A TLS listener on 127.0.0.1 in front of a grpc-js server whose one method answers `<verdict> <pin> <request>`. */
export interface PinnedServer {
  /** TCP port. */
  readonly port: number;
  /** Every verdict so far, in order of arrival. */
  readonly verdicts: readonly PeerVerdict[];
  /** Texts that reached the handler. */
  readonly requests: readonly string[];
  /** TLS failures seen before any verdict. */
  readonly clientErrors: readonly Error[];
  /** Resolves when `verdicts` has at least that many entries. */
  verdictCount(count: number): Promise<void>;
  /** Resolves when `clientErrors` has at least that many entries. */
  clientErrorCount(count: number): Promise<void>;
  /** Cuts every connection and goes on listening. */
  cutConnections(): void;
  /** Cuts every connection and stops. */
  close(): Promise<void>;
}

/** Starts a {@link PinnedServer}. */
export async function startPinnedServer(leaves: LeafSource, pins: PinLookup, now: () => number): Promise<PinnedServer> {
  const grpcServer = new Server();
  const injector = grpcServer.createConnectionInjector(ServerCredentials.createInsecure());
  const byConnection = new Map<string, PeerVerdict>();
  const verdicts: PeerVerdict[] = [];
  const requests: string[] = [];
  const clientErrors: Error[] = [];
  const sockets = new Set<TLSSocket>();
  const waiters = new Set<() => void>();
  const changed = (): void => {
    for (const waiter of waiters) waiter();
  };

  grpcServer.addService(service, {
    whoAmI: (call: { getPeer(): string; request: string }, callback: (error: null, answer: string) => void) => {
      requests.push(call.request);
      const verdict = byConnection.get(call.getPeer().replace(/:\d+$/, ""));
      callback(
        null,
        `${verdict?.kind ?? "?"} ${verdict !== undefined && "pin" in verdict ? verdict.pin : "-"} ${call.request}`,
      );
    },
  });

  const listener = createServer(serverTlsOptions(leaves));
  keepLeafFresh(listener, leaves);
  listener.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    const verdict = authorizePeer(socket, pins, now());
    verdicts.push(verdict);
    if (verdict.kind === "refused") {
      socket.destroy();
    } else {
      const connectionId = `connection-${verdicts.length}`;
      byConnection.set(connectionId, verdict);
      Object.defineProperty(socket, "remoteAddress", { value: connectionId });
      injector.injectConnection(socket);
    }
    changed();
  });
  listener.on("tlsClientError", (error) => {
    clientErrors.push(error);
    changed();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");

  const until = (reached: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        if (!reached()) return;
        clearTimeout(deadline);
        waiters.delete(check);
        resolve();
      };
      const deadline = setTimeout(() => {
        waiters.delete(check);
        reject(new Error(`not reached: ${JSON.stringify(verdicts)}, errors: ${clientErrors.map(String).join("; ")}`));
      }, 5_000);
      waiters.add(check);
      check();
    });

  const cutConnections = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };

  return {
    port: (listener.address() as AddressInfo).port,
    verdicts,
    requests,
    clientErrors,
    verdictCount: (count) => until(() => verdicts.length >= count),
    clientErrorCount: (count) => until(() => clientErrors.length >= count),
    cutConnections,
    async close() {
      const closed = once(listener, "close");
      listener.close();
      cutConnections();
      grpcServer.forceShutdown();
      await closed;
    },
  };
}

/** How a call to {@link PinnedServer} ended. */
export type CallEnd =
  { readonly ok: true; readonly answer: string } | { readonly ok: false; readonly error: ServiceError };

/** A client with a connection of its own. */
export interface ProbeClient {
  /** Calls the method once, within 5 s. */
  call(request: string, metadata?: Metadata): Promise<CallEnd>;
  /** Resolves when the channel has noticed that its connection is gone; rejects after 5 s. */
  disconnected(): Promise<void>;
  /** Closes the channel. */
  close(): void;
}

/** Makes a {@link ProbeClient}. */
export function probeClient(port: number, credentials: ChannelCredentials, host = "127.0.0.1"): ProbeClient {
  const client = new Client(`${host}:${port}`, credentials, { "grpc.use_local_subchannel_pool": 1 });
  return {
    call: (request, metadata = new Metadata()) =>
      new Promise((resolve) => {
        const options = { deadline: new Date(Date.now() + 5_000) };
        client.makeUnaryRequest(
          whoAmI.path,
          text.serialize,
          text.deserialize,
          request,
          metadata,
          options,
          (error, answer) => {
            resolve(error === null ? { ok: true, answer: answer ?? "" } : { ok: false, error });
          },
        );
      }),
    disconnected: () =>
      new Promise((resolve, reject) => {
        const deadline = new Date(Date.now() + 5_000);
        client.getChannel().watchConnectivityState(connectivityState.READY, deadline, (error) => {
          if (error === undefined) resolve();
          else reject(error);
        });
      }),
    close: () => {
      client.close();
    },
  };
}
