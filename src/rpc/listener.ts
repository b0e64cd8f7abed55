import { setMaxListeners } from "node:events";
import { Server, ServerCredentials, type ConnectionInjector } from "@grpc/grpc-js";
import { systemClock, type Clock } from "../base/clock.js";
import { createDeferred } from "../base/deferred.js";
import { LIMITS } from "../base/limits.js";
import type { Logger } from "../base/logger.js";
import { systemRandom, type Random } from "../base/random.js";
import { acceptConnections } from "./acceptConnections.js";
import { authenticationInterceptor, type Authenticate } from "./authentication.js";
import { serverOptions } from "./channelOptions.js";
import { createConnectionTable, type Connections } from "./connection.js";
import type { CallObserver } from "./harness/callObserver.js";
import type { HarnessRuntime } from "./harness/harnessRuntime.js";
import type { ServiceImplementation } from "./harness/implementService.js";
import { createHealth, type Health } from "./healthService.js";
import { routeLibraryLog } from "./libraryLog.js";
import { widenReceiveWindow } from "./receiveWindow.js";
import { createReflection } from "./reflectionService.js";
import { RpcError } from "./rpcError.js";
import { passingTracer } from "./tracing/passingTracer.js";
import type { Tracer } from "./tracing/tracer.js";
import type { Transport } from "./transport.js";

/** Deadline of calls that bring none and are no streams, milliseconds. Source: DESIGN section 3. */
export const DEFAULT_DEADLINE_MS = 30_000;

/** What {@link startListener} needs. */
export interface ListenerOptions {
  /** Name for logs and connection ids, for example `owner`. */
  readonly name: string;
  /** What is served, besides health and reflection. */
  readonly services: readonly ServiceImplementation[];
  /** Says who calls, at the headers of every call, health and reflection included. */
  readonly authenticate: Authenticate;
  /** Where to listen. */
  readonly transport: Transport;
  readonly log: Logger;
  /** Health to serve; default: a new one that says SERVING of every service. */
  readonly health?: Health;
  /** An encoded `google.protobuf.FileDescriptorSet`; reflection is served where it is given. */
  readonly reflection?: Uint8Array;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: the system's. */
  readonly random?: Random;
  /** Deadline of unary calls that bring none, milliseconds; default {@link DEFAULT_DEADLINE_MS}. */
  readonly defaultDeadlineMs?: number;
  /** Looks on as calls are served; default: nobody. */
  readonly observe?: CallObserver;
  /** Takes the spans of the calls; default: nobody, and traces are passed on. */
  readonly tracer?: Tracer;
}

/** A started listener. Owned by whoever started it, ended by {@link Listener.drain} or {@link Listener.close}. */
export interface Listener {
  /** See {@link ListenerOptions.name}. */
  readonly name: string;
  /** Address for clients: `unix:<path>` or `<host>:<port>` with the port that was bound. */
  readonly address: string;
  /** The port that was bound; undefined on a Unix socket. */
  readonly port: number | undefined;
  /** The live connections. */
  readonly connections: Connections;
  /** What health says. */
  readonly health: Health;
  /**
   * Ends the listener in order: health says NOT_SERVING, Watch streams end, handlers see `draining`, nothing is accepted any
   * more; calls that still run after `graceMs` milliseconds are cut. Resolves when no connection is left.
   */
  drain(graceMs: number): Promise<void>;
  /** Ends the listener at once. */
  close(): Promise<void>;
}

/**
 * Starts one gRPC server on one transport. A service exists only on the listeners it is given to.
 * @throws RpcError SOCKET_PATH_TOO_LONG, ADDRESS_IN_USE or LISTEN_FAILED.
 */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { name, transport, clock = systemClock } = options;
  const log = options.log.child({ listener: name });
  routeLibraryLog(options.log);
  const connections = createConnectionTable(name);
  const health = options.health ?? createHealth();
  const draining = new AbortController();
  // Every call may listen to it; the default would warn of a leak from the eleventh on.
  setMaxListeners(0, draining.signal);
  const server = new Server({
    ...serverOptions(transport.kind === "unix"),
    interceptors: [authenticationInterceptor(connections, options.authenticate, log)],
  });
  const random = options.random ?? systemRandom;
  addServices(server, options, health, {
    clock,
    random,
    log,
    draining: draining.signal,
    defaultDeadlineMs: options.defaultDeadlineMs ?? DEFAULT_DEADLINE_MS,
    observe: options.observe,
    tracer: options.tracer ?? passingTracer(random),
  });
  // TLS, where there is any, has ended before a connection gets here.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  if (transport.kind === "tls") widenReceiveWindow(server, LIMITS.receiveWindowBytes);
  const acceptor = await acceptConnections({ transport, connections, injector, log, clock });
  log.info({ address: acceptor.address }, "listening");

  let ended: Promise<void> | undefined;
  const end = async (graceMs: number): Promise<void> => {
    health.drain();
    draining.abort(new RpcError("DRAINING"));
    const released = acceptor.stop();
    await shutDown(server, injector, connections, clock, graceMs);
    for (const connection of connections.list()) connection.destroy();
    await released;
    log.info("listener ended");
  };
  return {
    name,
    address: acceptor.address,
    port: acceptor.port,
    connections,
    health,
    drain: (graceMs) => (ended ??= end(graceMs)),
    async close() {
      ended ??= end(0);
      server.forceShutdown();
      for (const connection of connections.list()) connection.destroy();
      await ended;
    },
  };
}

function addServices(server: Server, options: ListenerOptions, health: Health, runtime: HarnessRuntime): void {
  const services = [...options.services, health.service];
  if (options.reflection !== undefined) {
    services.push(
      ...createReflection(
        options.reflection,
        services.map((service) => service.name),
      ),
    );
  }
  for (const service of services) {
    server.addService(service.definition, service.bind(runtime));
    health.set(service.name, true);
  }
}

async function shutDown(
  server: Server,
  injector: ConnectionInjector,
  connections: Connections,
  clock: Clock,
  graceMs: number,
): Promise<void> {
  const done = createDeferred<void>();
  const closed = connections
    .list()
    .map((connection) => new Promise<void>((resolve) => void connection.onClose(resolve)));
  // tryShutdown waits for open calls without limit; its only error is that the server was never started. Where closing a server closes its
  // sessions, as from Node 24 on, it does not wait for them: a connection closes when the last call on it has ended.
  server.tryShutdown(() => {
    void Promise.all(closed).then(() => {
      done.resolve();
    });
  });
  const cancel = clock.after(graceMs, () => {
    server.forceShutdown();
    done.resolve();
  });
  await done.promise;
  cancel();
  injector.destroy();
}
