import type { Clock } from "../base/clock.js";
import { systemClock } from "../base/clock.js";
import { createDeferred } from "../base/deferred.js";
import type { Logger } from "../base/logger.js";
import type { Random } from "../base/random.js";
import { systemRandom } from "../base/random.js";
import { RelayServiceService, type RelayWelcome } from "../gen/talaria/dm/v1/relay_service.js";
import type { GatewayInfo } from "../gen/talaria/dm/v1/roster.js";
import { connectClient } from "../rpc/clients/connectClient.js";
import { openBidi } from "../rpc/clients/openBidi.js";
import { startListener } from "../rpc/listener.js";
import { principalOfIdentity } from "../rpc/principal.js";
import { RpcError } from "../rpc/rpcError.js";
import type { LeafSource } from "../rpc/tls/leafCertificate.js";
import type { Pin } from "../rpc/tls/pin.js";
import { pinnedCredentials } from "../rpc/tls/pinnedCredentials.js";
import { authorizePeer, keepLeafFresh, serverTlsOptions } from "../rpc/tls/serverTls.js";
import { HubSession } from "./hubSession.js";
import { createLocalGateway } from "./localGateway.js";
import { createLocalPeerService } from "./localPeerService.js";
import { pause } from "../base/pause.js";
import { openPlaceFile } from "./placeFile.js";
import { PublishedRoster } from "./publishedRoster.js";
import { HUB_DELAYS, LOCAL_DELAYS, reconnectDelay } from "./reconnectDelay.js";

/** How a connector is told what it joins. */
export interface ConnectorOptions {
  /** The gateway that relays: where it listens for peers, and the pin of its key. */
  readonly hub: { readonly address: string; readonly pin: Pin };
  /** `host:port` of the peer listener of this machine's gateway. */
  readonly localAddress: string;
  /** Where this machine's gateway reaches the gateway that relays: here. Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  /** Leaves under the home's key: by it both gateways know the connector. */
  readonly leaves: LeafSource;
  /** Where the place of the receipts is kept. */
  readonly placeFile: string;
  readonly log: Logger;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Default: the system's. */
  readonly random?: Random;
}

/** A running connector. Ended by {@link Connector.stop}. */
export interface Connector {
  /** Where this machine's gateway reaches the gateway that relays. */
  readonly address: string;
  /** Whether it is connected to the gateway that relays. */
  readonly connected: boolean;
  /** Resolves when it has ended: with undefined after a stop, else with why it cannot go on (CONNECTOR_REPLACED). */
  readonly ended: Promise<RpcError | undefined>;
  /** Gives leases back, closes the connection and ends. */
  stop(): Promise<void>;
}

/** How long the gateway that relays may take to answer hello, milliseconds. */
const WELCOME_MS = 15_000;
/** Time between two looks at the roster of this machine's gateway, milliseconds. */
const ROSTER_MS = 30_000;

/**
 * Starts the relay connector of a machine that cannot be dialled.
 *
 * It stands between two gateways as a peer of this machine's one. It calls that gateway's peer listener under the home's own
 * key, and serves `PeerService` on the loopback address under which the same gateway knows the one that relays. So this
 * machine's gateway names authors `agent:<hub>/<name>`, keeps every message durably, dedupes, retries and answers for receipts
 * by the rules that it has for every peer, and the connector keeps nothing but the place up to which receipts are confirmed and the number of its connection. A
 * client's surface could not do that: the author of a client's message is the client.
 *
 * It never gives up: whatever ends the connection, another attempt follows after a capped wait. The one exception is a later
 * connection under the same key, which would be taken over in turn.
 */
export async function startConnector(options: ConnectorOptions): Promise<Connector> {
  const { hub, leaves, listen, clock = systemClock, random = systemRandom } = options;
  const log = options.log.child({ room: "connector" });
  const now = (): number => clock.now();
  const stopping = new AbortController();
  const ended = createDeferred<RpcError | undefined>();
  const isStopping = (): boolean => stopping.signal.aborted;
  const local = createLocalGateway(options.localAddress, leaves, now);
  const roster = new PublishedRoster();
  const place = openPlaceFile(options.placeFile);
  const state: { session?: HubSession | undefined; lookAgain?: () => void } = {};
  const peer = createLocalPeerService(() => state.session);

  const listener = await startListener({
    name: "relay",
    services: [peer.service],
    authenticate: ({ connection: { identity } }) => {
      if (identity?.pin !== leaves.identity.pin) throw new RpcError("PEER_KEY_UNKNOWN");
      return principalOfIdentity(identity);
    },
    transport: {
      kind: "tls",
      ...listen,
      tlsOptions: serverTlsOptions(leaves),
      onServer: (server) => keepLeafFresh(server, leaves),
      authorize: (socket) => {
        const verdict = authorizePeer(socket, { has: (pin) => pin === leaves.identity.pin }, now());
        return verdict.kind === "known" ? { kind: "peer", name: "local", pin: verdict.pin } : undefined;
      },
    },
    log,
    clock,
    random,
  });

  /** Learns what this machine's gateway is and has, and tells of changes. */
  const followLocal = async (): Promise<void> => {
    const { signal } = stopping;
    for (let failures = 0; !signal.aborted;) {
      try {
        const { info, entries, fingerprint } = await local.roster(signal);
        if (info === undefined) throw new RpcError("MALFORMED_MESSAGE");
        failures = 0;
        roster.here(info, entries, fingerprint);
      } catch (caught) {
        if (isStopping()) return;
        failures += 1;
        const error = RpcError.from(caught);
        log.warn({ reason: error.reason, message: error.message }, "this machine's gateway cannot be reached");
        roster.away();
      }
      // A failure is not looked at again before its wait is over.
      const wait = failures === 0 ? ROSTER_MS : reconnectDelay(failures, random.fraction(), LOCAL_DELAYS);
      const waiting = new AbortController();
      state.lookAgain = () => {
        if (failures === 0) waiting.abort();
      };
      await pause(clock, wait, AbortSignal.any([signal, waiting.signal]));
    }
  };

  const connectOnce = async (info: GatewayInfo): Promise<{ readonly error: RpcError; readonly welcomed: boolean }> => {
    const { signal } = stopping;
    const credentials = pinnedCredentials({
      leaves,
      serverPin: hub.pin,
      now,
      onVerdict: (verdict) => {
        if (verdict.kind !== "known") log.warn({ verdict }, "the key of the gateway that relays is not the pinned one");
      },
    });
    const settings = { address: hub.address, purpose: "tcpStream", ownConnection: true, credentials } as const;
    const client = await connectClient({ ...settings, timeoutMs: WELCOME_MS, signal, clock });
    try {
      const call = openBidi(client, RelayServiceService.connect);
      // Above every earlier one, also of a start before which the clock was set back: a lower one would be taken for a late comer.
      const connection = Math.max(now(), place.read().connection + 1);
      place.write({ connection });
      call.sendNow({ frame: { $case: "hello", value: { info, connectionEpoch: BigInt(connection) } } });
      const responses = call.responses[Symbol.asyncIterator]();
      const late = clock.after(WELCOME_MS, () => {
        call.cancel();
      });
      const cut = (): void => {
        call.cancel();
      };
      signal.addEventListener("abort", cut, { once: true });
      let welcome: RelayWelcome | undefined;
      try {
        const first = await responses.next();
        if (first.done !== true && first.value.frame?.$case === "welcome") welcome = first.value.frame.value;
        if (welcome === undefined) {
          call.end();
          const why = await call.ended;
          return { error: why ?? new RpcError("UNAVAILABLE", { message: "There was no welcome." }), welcomed: false };
        }
      } finally {
        late();
        signal.removeEventListener("abort", cut);
      }
      const session = new HubSession({
        call,
        welcome,
        local,
        roster,
        place,
        onLocalTrouble: () => state.lookAgain?.(),
        onReceipts: (receipts) => {
          peer.onReceipts(receipts);
        },
        clock,
        random,
        log,
      });
      state.session = session;
      log.info({ hub: welcome.info?.name, as: welcome.connectorName }, "connected");
      try {
        return { error: await session.run({ [Symbol.asyncIterator]: () => responses }), welcomed: true };
      } finally {
        state.session = undefined;
      }
    } finally {
      client.close();
    }
  };

  const run = async (): Promise<RpcError | undefined> => {
    const { signal } = stopping;
    let failures = 0;
    for await (const _known of roster.follow(signal)) if (roster.info !== undefined) break;
    while (!signal.aborted) {
      const { info } = roster;
      if (info === undefined) break;
      const { error, welcomed } = await connectOnce(info).catch((caught: unknown) => ({
        error: RpcError.from(caught),
        welcomed: false,
      }));
      if (isStopping()) break;
      if (error.reason === "CONNECTOR_REPLACED") return error;
      failures = welcomed ? 1 : failures + 1;
      const waitMs = reconnectDelay(failures, random.fraction(), HUB_DELAYS);
      log.info({ reason: error.reason, message: error.message, failures, waitMs }, "not connected");
      await pause(clock, waitMs, signal);
    }
    return undefined;
  };

  const following = followLocal();
  const running = run().catch((caught: unknown) => RpcError.from(caught));
  const finish = async (): Promise<void> => {
    const why = await running;
    stopping.abort();
    await following;
    await listener.close();
    local.close();
    ended.resolve(why);
  };
  void finish();

  return {
    address: listener.address,
    get connected() {
      return state.session !== undefined;
    },
    ended: ended.promise,
    async stop() {
      await state.session?.stop();
      stopping.abort();
      await ended.promise;
    },
  };
}
