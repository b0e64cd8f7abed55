import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { resolveBudgets } from "../../src/base/budgets.js";
import { systemClock } from "../../src/base/clock.js";
import { homePaths } from "../../src/base/home.js";
import { silentLogger } from "../../src/base/logger.js";
import { createDm } from "../../src/dm/createDm.js";
import { messageOfEnvelope } from "../../src/dm/services/envelopeOrigin.js";
import {
  PeerServiceService,
  type DeliverDMRequest,
  type DeliverDMResponse,
} from "../../src/gen/talaria/dm/v1/peer_service.js";
import { createPeerTable, peerAuthentication } from "../../src/gateway/access/peerTable.js";
import { peerTransport } from "../../src/gateway/access/peerTransport.js";
import { acceptConnections } from "../../src/rpc/acceptConnections.js";
import { createConnectionTable } from "../../src/rpc/connection.js";
import { implementService, type ServiceImplementation } from "../../src/rpc/harness/implementService.js";
import { defineUnary, defineUnimplemented } from "../../src/rpc/harness/methods.js";
import { startListener } from "../../src/rpc/listener.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { openStore } from "../../src/store/store.js";
import { makeHome, removeHome } from "../lib/benchHome.js";

/**
 * What answers `DeliverDM`: `durable` is the service itself; `oneByOne` too, with a transaction for each message; `validated` is
 * the same harness, keys and checks of the envelope without door and store; `empty` is a bare grpc-js handler.
 */
export type PeerMode = "durable" | "oneByOne" | "validated" | "empty";

/** An open peer listener. */
export interface OpenPeer {
  readonly address: string;
  readonly pin: string;
  /** Messages on disk. */
  stored(): number;
  close(): Promise<void>;
}

/** Agents that messages go to, so that none of them has a long queue. */
export const RECIPIENTS = 64;

const log = silentLogger();
const clock = systemClock;

/** Opens a peer listener: TLS with pinned keys on both sides, one paired client. Nothing takes the messages up. */
export async function openPeer({ mode, clientPin }: { mode: PeerMode; clientPin: string }): Promise<OpenPeer> {
  const identity = await ephemeralIdentity(clock.now());
  const leaves = await leafSource(identity, () => clock.now());
  const peers = createPeerTable({ client: { address: "127.0.0.1:1", pin: clientPin } }, "bench");
  const transport = peerTransport({ host: "127.0.0.1", port: 0 }, { leaves, peers, clock, log });
  if (mode === "empty") {
    const { address, close } = await serveEmpty(transport);
    return { address, pin: identity.pin, stored: () => 0, close };
  }
  const room = mode === "validated" ? { services: [validatedService()], stored: () => 0 } : await durableRoom(mode);
  const listener = await startListener({
    name: "peers",
    services: room.services,
    authenticate: peerAuthentication,
    transport,
    log,
  });
  return {
    address: listener.address,
    pin: identity.pin,
    stored: () => room.stored(),
    async close() {
      await listener.close();
      await ("close" in room ? room.close() : undefined);
    },
  };
}

async function durableRoom(mode: "durable" | "oneByOne") {
  const home = makeHome({});
  const store = await openStore(homePaths(home), { clock, ...(mode === "oneByOne" ? { batchCap: 1 } : {}) });
  const agents = Array.from({ length: RECIPIENTS }, (_, index) => {
    const name = `agent${String(index)}`;
    return { name, title: name, description: "", main: index === 0, private: false, messaging: true };
  });
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  const policy = Buffer.alloc(64);
  const dm = createDm({
    gateway: "bench",
    version: "0.0.0",
    enabled: true,
    store,
    agents: { list: () => agents, get: (name) => byName.get(name) },
    peers: { list: () => [], get: () => undefined },
    turns: { freezePolicy: () => policy, wake: () => undefined },
    connectPeer: () => {
      throw new Error("nobody is sent to");
    },
    budgets: resolveBudgets(),
    log,
    clock,
  });
  return {
    services: dm.peerServices,
    stored: () => store.reader.get<{ count: number }>("SELECT COUNT(*) AS count FROM deliveries")?.count ?? 0,
    async close(): Promise<void> {
      await dm.close();
      await store.close();
      removeHome(home);
    },
  };
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

async function serveEmpty(transport: ReturnType<typeof peerTransport>) {
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
  const acceptor = await acceptConnections({ transport, connections, injector, log });
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
