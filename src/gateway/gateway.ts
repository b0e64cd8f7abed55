import { homedir } from "node:os";

import type { Clock } from "../base/clock.js";
import { systemClock } from "../base/clock.js";
import { clientTokensPath } from "../base/clientTokens.js";
import { loadGatewayConfig } from "../base/config/gatewayConfig.js";
import { readAgents } from "../base/config/readAgents.js";
import { measureDisk, type MeasureDisk } from "../base/diskUse.js";
import { ensureHome } from "../base/ensureHome.js";
import { homePaths, homeRoot } from "../base/home.js";
import type { LogDestination } from "../base/logger.js";
import { createLogger } from "../base/logger.js";
import type { ProcessTable } from "../base/processTable.js";
import { systemProcessTable } from "../base/processTable.js";
import type { Random } from "../base/random.js";
import { systemRandom } from "../base/random.js";
import { SecretRegistry } from "../base/secretRegistry.js";
import { openIdentity } from "../rpc/tls/identityKey.js";
import { lateLeafSource } from "../rpc/tls/leafCertificate.js";
import { openStore } from "../store/store.js";
import { checkClientBind } from "./access/checkClientBind.js";
import { checkPeerPins } from "./access/peerTable.js";
import { createPeerBook } from "../dm/peers/peerBook.js";
import { measureLoopDelay } from "./admin/loopDelay.js";
import { createOperatorEvents } from "./admin/operatorEvents.js";
import { createAgentDirectory } from "./agents/agentDirectory.js";
import { Cleanups } from "./cleanups.js";
import type { GatewayContext, MakeRooms } from "./gatewayContext.js";
import type { GatewayControl } from "./gatewayControl.js";
import { createControl } from "./gatewayControl.js";
import type { GatewayListeners } from "./gatewayListeners.js";
import { startListeners } from "./gatewayListeners.js";
import { gatewayServices } from "./gatewayServices.js";
import { peerEntries } from "./messages/peerEntries.js";
import { reapOrphans } from "./orphans/reapOrphans.js";
import { loadReap } from "./orphans/waitForProcess.js";
import { createSpendingGuard } from "./usage/spendingGuard.js";
import { openTracing } from "./tracing/openTracing.js";
import { readLaunchMark } from "../owner/launch/launchMark.js";
import { createHousekeeping } from "./storage/housekeeping.js";
import { watchStorage } from "./storage/storageGuard.js";

/** How {@link startGateway} is told where it is and what it runs on. */
export interface GatewayOptions {
  /** The home's root; default as {@link homeRoot} finds it. */
  readonly home?: string;
  /** Environment of the gateway; default the process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** Where log lines go; default standard error. */
  readonly logDestination?: LogDestination;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: the system's. */
  readonly random?: Random;
  /** Default: the system's. */
  readonly table?: ProcessTable;
  /** Most pages of the database; for tests of a full disk. */
  readonly maxPageCount?: number;
  /** Says how full the home's disk is; default asks the system. */
  readonly measureDisk?: MeasureDisk;
}

/** A running gateway. Ended by `drain` or `close`. */
export interface Gateway extends Omit<GatewayControl, "stopAt"> {
  /** The home's root. */
  readonly home: string;
  /** Pin of its identity key, to be given to peers. */
  readonly pin: string;
  /** Number of this start. */
  readonly epoch: number;
  /** Where it can be reached; as clients take it. */
  readonly addresses: GatewayListeners["addresses"];
}

/**
 * Starts a gateway on a home. Nothing is accepted before what earlier starts left behind is settled. A failure undoes what was
 * begun.
 * @throws ConfigError, HomeError, HomeLockedError, HomeTooNewError, StorageError, IdentityKeyError, or RpcError
 *   (TRANSPORT_INSECURE, ADDRESS_IN_USE, LISTEN_FAILED).
 */
export async function startGateway(options: GatewayOptions, makeRooms: MakeRooms): Promise<Gateway> {
  const undo = new Cleanups();
  try {
    const context = await openContext(options, undo);
    const { paths, config, store, log } = context;
    const rooms = await makeRooms(context);
    undo.add(() => rooms.owner.close());
    undo.add(() => rooms.dm.close());
    await rooms.owner.recover();

    const opened: { listeners?: GatewayListeners } = {};
    const control = createControl(context, () => ({ ...rooms, listeners: opened.listeners, undo }));
    const listeners = await startListeners(
      context,
      rooms,
      gatewayServices(context, rooms, control, () => opened.listeners?.open ?? []),
      {
        tokensFile: clientTokensPath(paths.root, config.clientTokensFile),
        beforeClients: async () => {
          rooms.owner.start();
          await rooms.dm.start();
        },
        undo,
      },
    );
    opened.listeners = listeners;
    const housekeeping = createHousekeeping({
      ...context,
      markOf: readLaunchMark,
      sessionGone: (sessionId) => {
        rooms.owner.sessionChanged(sessionId);
      },
    });
    undo.add(() => housekeeping.stop());
    housekeeping.start();
    log.info({ home: paths.root, epoch: store.epoch, addresses: listeners.addresses }, "serving");
    // Once whoever waits for the gateway has been told that it serves.
    const later: { certified?: Promise<unknown> } = {};
    const cancel = context.clock.after(0, () => {
      if (control.stopAt === undefined) rooms.owner.prepare();
      // Nobody waits for it: a home whose key has a certificate beside it notices if the key is lost.
      later.certified = context.leaves.identity.certificate().catch((error: unknown) => {
        log.warn({ err: error }, "the identity has no certificate yet");
      });
    });
    undo.add(() => {
      cancel();
      return later.certified;
    });
    return {
      home: paths.root,
      pin: context.leaves.identity.pin,
      epoch: store.epoch,
      addresses: listeners.addresses,
      ended: control.ended,
      drain: (graceMs) => control.drain(graceMs),
      close: () => control.close(),
    };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

async function openContext(options: GatewayOptions, undo: Cleanups): Promise<GatewayContext> {
  const { env = process.env, clock = systemClock, random = systemRandom, table = systemProcessTable } = options;
  const root = options.home ?? homeRoot(env, homedir());
  const config = loadGatewayConfig(homePaths(root).configFile);
  const paths = homePaths(root, config.runDir);
  if (config.listeners.clientTcp !== undefined) checkClientBind(config.listeners.clientTcp);
  checkPeerPins(config.peers, paths.configFile);
  ensureHome(paths);
  const read = readAgents(paths.agentsDir);
  const agents = createAgentDirectory(read.agents, read.invalid, read.problems);
  const { logDestination: destination, maxPageCount } = options;
  const secrets = new SecretRegistry();
  const log = createLogger({ level: config.logLevel, secrets, ...(destination === undefined ? {} : { destination }) });
  for (const { message } of agents.problems()) log.warn({ problem: message }, "an agent cannot be used");
  const limits = maxPageCount === undefined ? {} : { maxPageCount };
  const storage = await watchStorage({ path: paths.root, measure: options.measureDisk ?? measureDisk, clock, log });
  undo.add(() => {
    storage.stop();
  });
  const { vet } = storage;
  const store = await openStore(paths, { clock, random, logger: log, vet, ...limits });
  undo.add(() => store.close());
  const { epoch } = store;
  const tracing = await openTracing({ config, configFile: paths.configFile, epoch, clock, random, log });
  undo.add(() => tracing.close());
  const spending = createSpendingGuard({ store, agents, clock, log });
  undo.add(() => {
    spending.stop();
  });
  const configuredPeers = peerEntries(config);
  const peers = createPeerBook(store.reader, () => configuredPeers);
  const reap = process.pid === 1 ? loadReap() : undefined;
  undo.add(reapOrphans({ pid: process.pid, table, reap, clock, log }));
  const identity = await openIdentity(paths.root, clock.now());
  const leaves = lateLeafSource(identity, () => clock.now());
  const events = createOperatorEvents(store.epoch, clock);
  undo.add(() => {
    events.end();
  });
  const loopDelay = measureLoopDelay(clock);
  undo.add(() => {
    loopDelay.stop();
  });
  const { budgets } = config;
  return {
    paths,
    config,
    budgets,
    agents,
    store,
    storage,
    spending,
    leaves,
    peers,
    events,
    loopDelay,
    env,
    log,
    tracer: tracing.tracer,
    spanCounts: tracing.counts,
    secrets,
    clock,
    random,
    table,
  };
}
