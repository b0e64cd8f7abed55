import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { systemClock } from "../../src/base/clock.js";
import { silentLogger } from "../../src/base/logger.js";
import { messageOfEnvelope } from "../../src/dm/services/envelopeOrigin.js";
import {
  PeerServiceService,
  type DeliverDMRequest,
  type DeliverDMResponse,
} from "../../src/gen/talaria/dm/v1/peer_service.js";
import type { GatewayContext } from "../../src/gateway/gatewayContext.js";
import type { PeerIdentity } from "../../src/rpc/peerIdentity.js";
import { principalOfIdentity } from "../../src/rpc/principal.js";
import { authorizePeer, keepLeafFresh, serverTlsOptions } from "../../src/rpc/tls/serverTls.js";
import type { TlsTransport } from "../../src/rpc/transport.js";
import type { Writer } from "../../src/store/writer.js";
import { acceptConnections } from "../../src/rpc/acceptConnections.js";
import { createConnectionTable } from "../../src/rpc/connection.js";
import { implementService, type ServiceImplementation } from "../../src/rpc/harness/implementService.js";
import { defineUnary, defineUnimplemented } from "../../src/rpc/harness/methods.js";
import { startListener } from "../../src/rpc/listener.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { removeHome } from "../lib/benchHome.js";
import { clientName, makePeerHome } from "../lib/peerHome.js";
import { startBenchGateway } from "./benchGateway.js";
import { keepOwnWindow } from "./keepOwnWindow.js";

/**
 * What answers `DeliverDM`: `durable` is the service itself; `oneByOne` too, with a transaction for each message; `validated` is
 * the same harness, keys and checks of the envelope without door and store; `empty` is a bare grpc-js handler; `narrow` is `durable` with
 * the receive window that HTTP/2 starts with.
 */
export type PeerMode = "durable" | "oneByOne" | "validated" | "empty" | "narrow";

/** An open peer listener. */
export interface OpenPeer {
  readonly address: string;
  readonly pin: string;
  /** Messages on disk. */
  stored(): number;
  close(): Promise<void>;
}

const log = silentLogger();
const clock = systemClock;

/** How a peer listener is opened. */
export interface OpenPeerOptions {
  readonly mode: PeerMode;
  /** Pins of the keys that are paired, as {@link makePeerHome} names them. */
  readonly clientPins: readonly string[];
  /** A home that is to be served and stays; it has the agents and has paired the keys. Absent = one of its own. */
  readonly home?: string;
}

/** Opens a peer listener: TLS with pinned keys on both sides. Nothing takes the messages up. */
export async function openPeer(options: OpenPeerOptions): Promise<OpenPeer> {
  const { mode, clientPins, home } = options;
  if (mode !== "validated" && mode !== "empty") return openDurable(mode, clientPins, home);
  const identity = await ephemeralIdentity(clock.now());
  const leaves = await leafSource(identity, () => clock.now());
  const peers = new Map(clientPins.map((pin, index) => [pin, peerOf(pin, index)]));
  const transport: TlsTransport = {
    kind: "tls",
    host: "127.0.0.1",
    port: 0,
    tlsOptions: serverTlsOptions(leaves),
    authorize: (socket) => {
      const verdict = authorizePeer(socket, new Set(peers.keys()), clock.now());
      return verdict.kind === "refused" ? undefined : peers.get(verdict.pin);
    },
    onServer: (server) => {
      keepLeafFresh(server, leaves);
    },
  };
  if (mode === "empty") {
    const { address, close } = await serveEmpty(transport);
    return { address, pin: identity.pin, stored: () => 0, close };
  }
  const listener = await startListener({
    name: "peers",
    services: [validatedService()],
    authenticate: ({ connection }) => principalOfIdentity(connection.identity),
    transport,
    log,
  });
  return { address: listener.address, pin: identity.pin, stored: () => 0, close: () => listener.close() };
}

async function openDurable(
  mode: Exclude<PeerMode, "validated" | "empty">,
  clientPins: readonly string[],
  given: string | undefined,
): Promise<OpenPeer> {
  const home = given ?? (await makePeerHome(clientPins));
  const widen = mode === "narrow" ? keepOwnWindow() : undefined;
  const { gateway, context } = await startBenchGateway({
    home,
    turnsStart: false,
    ...(mode === "oneByOne" ? { forMessages: withOneByOne } : {}),
  });
  widen?.();
  return {
    address: gateway.addresses.peers ?? "",
    pin: gateway.pin,
    stored: () => context.store.reader.get<{ count: number }>("SELECT COUNT(*) AS count FROM deliveries")?.count ?? 0,
    async close() {
      await gateway.close();
      if (given === undefined) removeHome(home);
    },
  };
}

function peerOf(pin: string, index: number): PeerIdentity {
  return { kind: "peer", name: clientName(index), pin };
}

function withOneByOne(context: GatewayContext): GatewayContext {
  return { ...context, store: { ...context.store, writer: oneByOne(context.store.writer) } };
}

/** A writer that begins a command when the one before is on disk, so that each has a transaction of its own. */
function oneByOne(writer: Writer): Writer {
  let last: Promise<unknown> = Promise.resolve();
  const execute: Writer["execute"] = (command, input) => {
    const result = last.then(() => writer.execute(command, input));
    last = result.catch(() => undefined);
    return result;
  };
  return new Proxy(writer, {
    get(target, name) {
      if (name === "execute") return execute;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

function acceptance(): DeliverDMResponse {
  return { hop: undefined, replayed: false, position: 1, receipt: undefined };
}

function validatedService(): ServiceImplementation {
  return implementService(PeerServiceService, {
    deliverDm: defineUnary({
      handle(request, { principal }) {
        messageOfEnvelope(request, { kind: "peer", name: principal.kind === "peer" ? principal.name : "" }, clock);
        return Promise.resolve(acceptance());
      },
    }),
    deliverDMs: defineUnimplemented(),
    getReceipt: defineUnimplemented(),
    watchReceipts: defineUnimplemented(),
    cancelDm: defineUnimplemented(),
    listRoster: defineUnimplemented(),
    pair: defineUnimplemented(),
  });
}

async function serveEmpty(transport: TlsTransport) {
  const server = new Server();
  const { deliverDm } = PeerServiceService;
  server.addService(
    { deliverDm },
    {
      deliverDm: (
        _call: ServerUnaryCall<DeliverDMRequest, DeliverDMResponse>,
        callback: sendUnaryData<DeliverDMResponse>,
      ) => {
        callback(null, acceptance());
      },
    },
  );
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const connections = createConnectionTable("empty");
  const acceptor = await acceptConnections({ transport, connections, injector, log, clock });
  return {
    address: acceptor.address,
    async close(): Promise<void> {
      const stopped = acceptor.stop();
      server.forceShutdown();
      injector.destroy();
      for (const connection of connections.list()) connection.destroy();
      await stopped;
    },
  };
}
