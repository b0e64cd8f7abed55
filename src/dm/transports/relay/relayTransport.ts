import { reasonError, RpcError } from "../../../rpc/rpcError.js";
import { toDuration } from "../../../rpc/wire/times.js";
import type { ConnectRequest, RelayHello } from "../../../gen/talaria/dm/v1/relay_service.js";
import { giveUpAtConnector } from "../../../store/deliveries/relayCommands.js";
import { rosterFingerprint, rosterOf } from "../../addresses/roster.js";
import { grantedAgents } from "../../peers/grantedAgents.js";
import { gatewayInfo, whyUnfit } from "../../gatewayInfo.js";
import type { PeerWay } from "../peer/peerWay.js";
import type { Transport } from "../transport.js";
import { closeFrame, drainingEnd, faultEnd, replacedEnd, revokedEnd, type RelayEnd } from "./relayClose.js";
import { relayHeartbeatMs, type RelayContext, type RelayStream } from "./relayContext.js";
import { RelaySession } from "./relaySession.js";

/** How long a connector may take to say who it is, milliseconds. */
const GREETING_MS = 10_000;
/** Time between two looks for messages that a connector has left behind, milliseconds. */
const GIVE_UP_INTERVAL_MS = 5_000;

/** Moves messages to agents behind connectors, and theirs to the door. */
export interface RelayTransport extends Transport {
  /**
   * Serves one call of a paired connector to its end.
   * @param cut drops the call's connection: a connector that does not read does not see a status either
   * @throws RpcError why it ended
   */
  serve(connector: string, stream: RelayStream, cut: () => void): Promise<void>;
  /** The way to a connector; undefined before it has connected in this start. */
  wayTo(connector: string): PeerWay | undefined;
  /** Cuts the connection of a connector whose pairing was ended. */
  revoke(connector: string): void;
  /** Gives up at once what is due, see {@link giveUpAtConnector}; also happens by itself every 5 s. */
  giveUp(): Promise<void>;
}

/** Makes the transport: one session for each connector that is connected. */
export function createRelayTransport(context: RelayContext): RelayTransport {
  const { connectors, store, clock, budgets, afterCommit, log } = context;
  const sessions = new Map<string, RelaySession>();
  const goneAt = new Map<string, number>();
  const known = new Map<string, PeerWay>();
  let state: "new" | "running" | "ending" = "new";
  let startedAt = 0;
  let cancelRound: () => void = () => undefined;
  let round: Promise<void> = Promise.resolve();

  const giveUp = async (): Promise<void> => {
    for (const { name: connector } of connectors.list()) {
      const session = sessions.get(connector);
      const now = clock.now();
      const due = session === undefined ? clock.monotonic() - (goneAt.get(connector) ?? startedAt) : undefined;
      // A connector that is away for less than a lease may be on its way back.
      if (due !== undefined && due < budgets.relayLeaseMs) continue;
      afterCommit(
        await store.writer.execute(giveUpAtConnector, {
          connector,
          expiredBefore: session === undefined ? now : now - 2 * budgets.relayLeaseMs,
          accepted: session === undefined,
          except: session?.leases.deliveryIds ?? [],
          now,
        }),
      );
    }
  };
  const look = (): void => {
    round = giveUp()
      .catch((caught: unknown) => {
        if (state === "running") log.error({ err: caught }, "messages of connectors could not be given up");
      })
      .then(() => {
        if (state === "running") cancelRound = clock.after(GIVE_UP_INTERVAL_MS, look);
      });
  };
  const end = async (): Promise<void> => {
    state = "ending";
    cancelRound();
    const open = [...sessions.values()];
    for (const session of open) session.close(drainingEnd());
    await Promise.all([round, ...open.map((session) => session.ended)]);
  };
  const greet = async (requests: AsyncIterator<ConnectRequest>): Promise<RelayHello> => {
    const silent = new RpcError("CONNECT_TIMEOUT");
    const first = await within(clock, GREETING_MS, requests.next(), silent);
    if (first.done === true) throw new RpcError("CANCELLED");
    const { frame } = first.value;
    if (frame?.$case !== "hello") {
      throw reasonError("FRAME_OUT_OF_PHASE", { frame: frame?.$case ?? "none", phase: "connecting" });
    }
    return frame.value;
  };
  const refuse = (stream: RelayStream, why: RelayEnd): never => {
    stream.sendNow({ frame: closeFrame(why) });
    throw why.error;
  };
  /** Ends the connection that this one takes over from; an earlier one, arriving late, is refused. */
  const takeOver = async (connector: string, epoch: bigint, stream: RelayStream): Promise<void> => {
    for (let live = sessions.get(connector); live !== undefined; live = sessions.get(connector)) {
      if (live.epoch >= epoch) refuse(stream, replacedEnd());
      live.close(replacedEnd());
      await live.ended;
    }
  };

  return {
    kind: "relay",
    serves: (gateway) => connectors.get(gateway) !== undefined,
    async serve(connector, stream, cut) {
      if (state !== "running") refuse(stream, drainingEnd());
      const requests = stream.requests[Symbol.asyncIterator]();
      const hello = await greet(requests).catch((caught: unknown) => refuse(stream, faultEnd(RpcError.from(caught))));
      const unfit = hello.info === undefined ? reasonError("PEER_PROTOCOL_UNSUPPORTED") : whyUnfit(hello.info, budgets);
      if (unfit !== undefined) refuse(stream, faultEnd(unfit));
      await takeOver(connector, hello.connectionEpoch, stream);
      if (isEnding()) refuse(stream, drainingEnd());
      const session = new RelaySession(context, connector, hello, stream);
      sessions.set(connector, session);
      try {
        log.info({ connector, epoch: String(session.epoch), version: hello.info?.version }, "connector here");
        await welcome(context, session);
      } catch (caught) {
        session.close(faultEnd(RpcError.from(caught)));
      }
      try {
        await session.run(requests);
      } catch (caught) {
        if (RpcError.is(caught, "SLOW_CONSUMER")) cut();
        throw caught;
      } finally {
        if (sessions.get(connector) === session) sessions.delete(connector);
        goneAt.set(connector, clock.monotonic());
        known.set(connector, { connected: false, info: session.info, seenAt: session.seenAt });
      }
    },
    wayTo(connector) {
      const session = sessions.get(connector);
      if (session !== undefined) return { connected: true, info: session.info, seenAt: session.seenAt };
      return known.get(connector);
    },
    revoke(connector) {
      sessions.get(connector)?.close(revokedEnd());
    },
    giveUp,
    start() {
      state = "running";
      startedAt = clock.monotonic();
      look();
      return Promise.resolve();
    },
    kick(gateway) {
      sessions.get(gateway)?.kick();
    },
    async cancel(delivery) {
      try {
        return (await sessions.get(delivery.recipientGateway)?.cancel(delivery)) ?? "pending";
      } catch {
        // The connection ended: nobody has confirmed anything.
        return "pending";
      }
    },
    withhold({ deliveryId, recipientGateway }) {
      // A lease is granted in the store, after what is decided there.
      return sessions.get(recipientGateway)?.leases.has(deliveryId) === true ? undefined : () => undefined;
    },
    inFlight: () => [...sessions.values()].flatMap(({ leases }) => leases.deliveryIds),
    drain: end,
    close: end,
  };

  function isEnding(): boolean {
    return state === "ending";
  }
}

async function welcome(context: RelayContext, session: RelaySession): Promise<void> {
  const { identity, budgets, agents, connectors } = context;
  const entries = [...rosterOf(grantedAgents(connectors.get(session.connector), agents.list()))];
  await session.send({
    $case: "welcome",
    value: {
      info: gatewayInfo(identity, budgets),
      connectorName: session.connector,
      lease: toDuration(budgets.relayLeaseMs),
      heartbeat: toDuration(relayHeartbeatMs(budgets)),
    },
  });
  await session.send({ $case: "roster", value: { entries, fingerprint: rosterFingerprint(entries) } });
}

function within<T>(clock: RelayContext["clock"], ms: number, promise: Promise<T>, late: RpcError): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      reject(late);
    });
    promise.then(resolve, reject).finally(cancel);
  });
}
