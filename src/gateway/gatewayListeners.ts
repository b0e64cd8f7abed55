import { join } from "node:path";

import { tokenUsesFile } from "../base/clientTokens.js";
import { descriptorSet } from "../gen/descriptors.js";
import { readLaunchMark } from "../owner/launch/launchMark.js";
import type { Authenticate } from "../rpc/authentication.js";
import type { CallObserver } from "../rpc/harness/callObserver.js";
import type { ServiceImplementation } from "../rpc/harness/implementService.js";
import type { Listener, ListenerOptions } from "../rpc/listener.js";
import { startListener } from "../rpc/listener.js";
import { isLaunch } from "../store/queries/launches.js";
import { auditCalls, auditRefusals } from "./access/auditCalls.js";
import { createAuditLog } from "./access/auditLog.js";
import { checkSocketUser, socketAuthentication, tokenAuthentication } from "./access/clientAuthentication.js";
import { clientTransport } from "./access/clientTransport.js";
import { createFailedAttempts } from "./access/failedAttempts.js";
import { peerAuthentication } from "./access/peerTable.js";
import { peerTransport } from "./access/peerTransport.js";
import { createTokenConnections } from "./access/tokenConnections.js";
import { createTokenTable } from "./access/tokenTable.js";
import { createTokenUses } from "./access/tokenUses.js";
import type { Cleanups } from "./cleanups.js";
import type { GatewayContext, GatewayRooms } from "./gatewayContext.js";

/** An open listener with what it serves. */
export interface OpenListener {
  /** `client-socket`, `client-tcp`, `owner-socket` or `peers`. */
  readonly name: string;
  /** Full names of the services on it, without health and reflection. */
  readonly services: readonly string[];
  readonly listener: Listener;
}

/** The listeners of a gateway. */
export interface GatewayListeners {
  readonly open: readonly OpenListener[];
  /** Addresses as clients take them: `unix:<path>` or `<host>:<port>`. */
  readonly addresses: {
    readonly clientSocket: string;
    readonly ownerSocket: string;
    readonly clientTcp?: string;
    readonly peers?: string;
    /** `http://<host>:<port>/metrics`. */
    readonly metrics?: string;
  };
  /** Makes health say NOT_SERVING where clients and peers look. */
  refuseNewWork(): void;
  /** Ends the listeners of clients and peers, cutting what still runs after `graceMs` milliseconds. */
  drain(graceMs: number): Promise<void>;
}

/** What {@link startListeners} is told besides its rooms. */
export interface StartListenersOptions {
  /** The file of hashed client tokens. */
  readonly tokensFile: string;
  /** Runs between the owner socket and the others: nothing of clients and peers is accepted before it has ended. */
  readonly beforeClients: () => Promise<void>;
  /** Takes what ends each listener. */
  readonly undo: Cleanups;
}

/**
 * Opens the listeners: the workers' first, the others last.
 * @throws RpcError ADDRESS_IN_USE, LISTEN_FAILED or SOCKET_PATH_TOO_LONG.
 */
export async function startListeners(
  context: GatewayContext,
  rooms: GatewayRooms,
  clientServices: readonly ServiceImplementation[],
  { tokensFile, beforeClients, undo }: StartListenersOptions,
): Promise<GatewayListeners> {
  const { owner, dm } = rooms;
  const { paths, config, log, clock, random, table } = context;
  const metrics = await serveMetrics(context, rooms, undo);
  const { clientTcp: clientTcpAddress, peers: peersAddress } = config.listeners;
  const ownLeafForClients = clientTcpAddress?.tls !== undefined && clientTcpAddress.tls.cert === undefined;
  if (ownLeafForClients || peersAddress !== undefined) await context.leaves.refresh();
  const shared = { log, clock, random, tracer: context.tracer, defaultDeadlineMs: context.budgets.unaryDeadlineMs };
  const observed = metrics === undefined ? {} : { observe: metrics.observe };
  const onTcp = config.listeners.reflectionOnTcp ? { reflection: descriptorSet } : {};
  const open: OpenListener[] = [];
  const start = async (options: Omit<ListenerOptions, keyof typeof shared>): Promise<Listener> => {
    const listener = await startListener({ ...shared, ...observed, ...options });
    undo.add(() => listener.close());
    open.push({ name: options.name, services: options.services.map(({ name }) => name), listener });
    return listener;
  };

  const ownerSocket = await start({
    name: "owner-socket",
    services: owner.workerServices,
    authenticate: owner.authenticate,
    transport: {
      kind: "unix",
      path: paths.ownerSocket,
      ...(owner.peerCheck === undefined ? {} : { peerCheck: owner.peerCheck }),
    },
    reflection: descriptorSet,
  });
  await beforeClients();

  const forClients: Listener[] = [];
  const audit = createAuditLog(join(paths.logsDir, "audit.jsonl"), log);
  undo.add(() => {
    audit.close();
  });
  const observe = bothObservers(auditCalls(audit, clock), metrics?.observe);
  const audited = (authenticate: Authenticate): Pick<ListenerOptions, "services" | "authenticate" | "observe"> => ({
    services: clientServices,
    authenticate: auditRefusals(authenticate, audit, clock),
    observe,
  });
  const ownUid = process.getuid?.();
  const clientSocket = await start({
    name: "client-socket",
    ...audited(
      socketAuthentication({
        workers: owner.liveWorkers,
        table,
        isMarked: (pid) => {
          const mark = readLaunchMark(pid);
          return mark !== undefined && isLaunch(context.store.reader, mark);
        },
        credentialsExpected: process.platform === "linux",
      }),
    ),
    transport: {
      kind: "unix",
      path: paths.gatewaySocket,
      peerCheck: (peer) => {
        checkSocketUser(peer, ownUid);
      },
    },
    reflection: descriptorSet,
  });
  forClients.push(clientSocket);

  let clientTcp: Listener | undefined;
  if (clientTcpAddress !== undefined) {
    const uses = createTokenUses(tokenUsesFile(tokensFile), clock, log);
    undo.add(() => {
      uses.flush();
    });
    const tokens = createTokenTable(tokensFile, log);
    const byToken = createTokenConnections(tokens, clock);
    clientTcp = await start({
      name: "client-tcp",
      ...audited(
        tokenAuthentication({
          tokens,
          used: (token, connection) => {
            uses.note(token.name);
            byToken.note(connection, token);
          },
          attempts: createFailedAttempts(clock),
        }),
      ),
      transport: clientTransport(clientTcpAddress, context),
      ...onTcp,
    });
    forClients.push(clientTcp);
  }

  let peers: Listener | undefined;
  if (peersAddress !== undefined) {
    peers = await start({
      name: "peers",
      services: dm.peerServices,
      authenticate: peerAuthentication(context.peers),
      transport: peerTransport(peersAddress, context),
      ...onTcp,
    });
    forClients.push(peers);
  }

  return {
    open,
    addresses: {
      clientSocket: clientSocket.address,
      ownerSocket: ownerSocket.address,
      ...(clientTcp === undefined ? {} : { clientTcp: clientTcp.address }),
      ...(peers === undefined ? {} : { peers: peers.address }),
      ...(metrics === undefined ? {} : { metrics: metrics.url }),
    },
    refuseNewWork() {
      for (const listener of forClients) listener.health.drain();
    },
    async drain(graceMs) {
      await Promise.all(forClients.map((listener) => listener.drain(graceMs)));
    },
  };
}

/** Measures and serves that where the configuration says so; otherwise nothing is measured. */
async function serveMetrics(
  context: GatewayContext,
  rooms: GatewayRooms,
  undo: Cleanups,
): Promise<{ readonly url: string; readonly observe: CallObserver } | undefined> {
  const { metrics: address } = context.config.listeners;
  if (address === undefined) return undefined;
  const [{ createMetrics }, { startMetricsEndpoint }] = await Promise.all([
    import("./metrics/createMetrics.js"),
    import("./metrics/metricsEndpoint.js"),
  ]);
  const metrics = createMetrics(context, rooms);
  undo.add(metrics.stop);
  const endpoint = await startMetricsEndpoint(address, metrics, context.log.child({ listener: "metrics" }));
  undo.add(() => endpoint.close());
  return { url: endpoint.url, observe: metrics.observe };
}

function bothObservers(first: CallObserver, second: CallObserver | undefined): CallObserver {
  if (second === undefined) return first;
  return (call) => {
    const ends = [first(call), second(call)];
    return (error) => {
      for (const end of ends) end(error);
    };
  };
}
