import type { Budgets } from "../base/budgets.js";
import type { Clock } from "../base/clock.js";
import { systemClock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import type { Random } from "../base/random.js";
import { systemRandom } from "../base/random.js";
import { passingTracer } from "../rpc/tracing/passingTracer.js";
import type { Tracer } from "../rpc/tracing/tracer.js";
import type { ServiceImplementation } from "../rpc/harness/implementService.js";
import { readDelivery } from "../store/deliveries/readDelivery.js";
import type { StoredDelivery } from "../store/deliveries/storedDelivery.js";
import { readStoreId } from "../store/deliveries/storeId.js";
import type { Store } from "../store/store.js";
import { createDoor } from "./admission/door.js";
import type { AfterCommit } from "./afterCommit.js";
import { createDeliveryHub } from "./deliveryHub.js";
import type { GatewayIdentity } from "./gatewayInfo.js";
import { createPeerRegistry, type PeerRegistry } from "./pairing/peerRegistry.js";
import type { PeerBook } from "./peers/peerBook.js";
import { createPeerClocks, type PeerClock } from "./peers/peerClocks.js";
import { createPeerRosters, type PeerRoster } from "./peers/peerRosters.js";
import type { AgentDirectory } from "./ports/directory.js";
import type { TurnPort } from "./ports/turnPort.js";
import { connectorsOf } from "./relay/connectorDirectory.js";
import { createRelayRosters, type RelayNamespace } from "./relay/relayRosters.js";
import { createDirectMessageService } from "./services/directMessageService.js";
import { createPeerService } from "./services/peerService.js";
import { createRelayService } from "./services/relayService.js";
import { createWorkerMessages, type WorkerMessages } from "./services/workerMessages.js";
import { createSweeper } from "./sweeper.js";
import { DeliveryTrace } from "./trace/deliveryTrace.js";
import type { ConnectPeer } from "./transports/peer/peerContext.js";
import { createPeerTransport } from "./transports/peer/peerTransport.js";
import type { PeerWay } from "./transports/peer/peerWay.js";
import { createRelayTransport } from "./transports/relay/relayTransport.js";
import type { Transport } from "./transports/transport.js";

/** What direct messages are made of. */
export interface DmOptions {
  /** This gateway's own name. */
  readonly gateway: string;
  /** Version of the program, told to peers. */
  readonly version: string;
  /** Whether messages are accepted and sent at all. */
  readonly enabled: boolean;
  /** The open store; outlives this. */
  readonly store: Pick<Store, "writer" | "reader" | "homeKey">;
  readonly agents: AgentDirectory;
  readonly peers: PeerBook;
  /** Pin of this gateway's own key, which invites carry. */
  readonly ownPin: string;
  readonly turns: TurnPort;
  readonly connectPeer: ConnectPeer;
  readonly budgets: Budgets;
  readonly log: Logger;
  /** Told of each delivery that became a dead letter here, after the commit; once in each attempt epoch. Default: nobody is. */
  readonly onDeadLetter?: (delivery: StoredDelivery) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: the system's. */
  readonly random?: Random;
  /** Takes the spans of messages; default: nobody, and traces are passed on. */
  readonly tracer?: Tracer;
}

/** The direct messages of one gateway. Owned by the composition root. */
export interface Dm {
  /** For the client listeners. */
  readonly clientServices: readonly ServiceImplementation[];
  /** For the peer listener. */
  readonly peerServices: readonly ServiceImplementation[];
  /** What the owner's store service calls for a turn's own agent. */
  readonly workerMessages: WorkerMessages;
  /** What operators do with peers and destinations. */
  readonly registry: PeerRegistry;
  /** Agents behind connectors, a namespace for each connector. */
  relays(): readonly RelayNamespace[];
  /** What a peer has said of its agents; undefined where it has said nothing, or too long ago. */
  rosterOf(peer: string): PeerRoster | undefined;
  /** A peer's clock; undefined where it has not told it, or too long ago. */
  clockOf(peer: string): PeerClock | undefined;
  /** The way to a peer or connector; undefined where there is none. */
  wayTo(gateway: string): PeerWay | undefined;
  /** To be called after a commit of the owner's that changed deliveries, or made dead letters of them; wakes nobody's session. */
  onDeliveriesChanged(deliveryIds: readonly string[], dead?: readonly string[]): void;
  /** Starts the transports and the sweep. The owner must be ready to be woken. */
  start(): Promise<void>;
  /** Refuses what comes, and ends the transports; what was accepted stays on disk. Watches end with their listeners. */
  drain(): Promise<void>;
  /** Ends everything; the store may be closed afterwards. */
  close(): Promise<void>;
}

/** Joins addresses, the door, the services and the transports. Nothing runs before {@link Dm.start}. */
export function createDm(options: DmOptions): Dm {
  const { store, turns, budgets, agents, peers, clock = systemClock, random = systemRandom } = options;
  const log = options.log.child({ room: "dm" });
  const identity: GatewayIdentity = {
    name: options.gateway,
    version: options.version,
    storeId: readStoreId(store.reader),
  };
  const { tracer = passingTracer(random) } = options;
  const trace = new DeliveryTrace(tracer);
  const hub = createDeliveryHub();
  const transports: Transport[] = [];
  const onDeliveriesChanged: Dm["onDeliveriesChanged"] = (deliveryIds, dead = []) => {
    hub.notify(deliveryIds);
    for (const deliveryId of trace.enabled ? deliveryIds : []) {
      const delivery = readDelivery(store.reader, deliveryId);
      if (delivery !== undefined) trace.changed(delivery);
    }
    for (const deliveryId of dead) {
      const delivery = options.onDeadLetter === undefined ? undefined : readDelivery(store.reader, deliveryId);
      if (delivery !== undefined) options.onDeadLetter?.(delivery);
    }
  };
  const afterCommit: AfterCommit = (effects, queued) => {
    onDeliveriesChanged(effects.changed, effects.dead);
    if (effects.wake.length > 0) turns.wake(effects.wake);
    if (queued?.state === "queued" && queued.recipientGateway !== "") {
      transports.find((transport) => transport.serves(queued.recipientGateway))?.kick(queued.recipientGateway);
    }
  };
  let draining = false;
  const { gateway, enabled, connectPeer, ownPin } = options;
  const shared = { store, agents, peers, turns, budgets, clock, random, afterCommit, hub, log, tracer };
  const peerRosters = createPeerRosters(peers, clock);
  const peerClocks = createPeerClocks(peers, clock);
  const connectors = connectorsOf(peers);
  const rosters = createRelayRosters(connectors, clock);
  const relays = (): readonly RelayNamespace[] => rosters.namespaces();
  const rosterOf = (peer: string): PeerRoster | undefined => peerRosters.get(peer);
  const door = createDoor({ ...shared, gateway, enabled, connectors, relays, rosterOf, isDraining: () => draining });
  const peerTransport = createPeerTransport({
    ...shared,
    identity,
    connectPeer,
    rosters: peerRosters,
    clocks: peerClocks,
  });
  const relayTransport = createRelayTransport({ ...shared, identity, connectors, rosters, door });
  transports.push(peerTransport, relayTransport);
  const onPeerChanged = (name: string): Promise<void> => {
    if (connectors.get(name) === undefined) relayTransport.revoke(name);
    return peerTransport.reopen(name);
  };
  const registry = createPeerRegistry({
    ...shared,
    identity,
    connectPeer,
    ownPin,
    onPeerChanged,
    isLinked: (name) => peerTransport.wayTo(name)?.connected === true,
    onDestinationChanged: (name) => {
      peerTransport.reconsider(name);
    },
  });
  const sweeper = createSweeper({ ...shared, transports });
  const drain = async (): Promise<void> => {
    draining = true;
    await Promise.all([sweeper.stop(), ...transports.map((transport) => transport.drain())]);
  };
  return {
    clientServices: [createDirectMessageService({ ...shared, door, transports })],
    peerServices: [
      createPeerService({ ...shared, identity, door, onPeerChanged }),
      createRelayService(relayTransport, connectors),
    ],
    workerMessages: createWorkerMessages({ ...shared, door }),
    registry,
    relays,
    rosterOf,
    clockOf: (peer) => peerClocks.get(peer),
    wayTo: (name) => peerTransport.wayTo(name) ?? relayTransport.wayTo(name),
    onDeliveriesChanged,
    async start() {
      // A sweep may say EXPIRED only of what its transport has no doubt about.
      await registry.settleRevoked();
      await Promise.all(transports.map((transport) => transport.start()));
      sweeper.start();
    },
    drain,
    async close() {
      await drain();
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}
