import { VERSION } from "../../base/version.js";
import type { Dm } from "../../dm/createDm.js";
import { createDm } from "../../dm/createDm.js";
import type { TurnPort } from "../../dm/ports/turnPort.js";
import type { GatewayContext } from "../gatewayContext.js";
import type { Notifier } from "../notify/notifier.js";
import type { DmRoom } from "../ports.js";
import { createConnectPeer } from "./connectPeer.js";
import { deadLetters } from "./deadLetters.js";
import { createPeerOverview } from "./peerOverview.js";
import { reachability } from "./reachability.js";
import { type Elsewhere, listTeammates } from "./teammates.js";

/** Joins direct messages to the rest of the gateway. `dm` is for the owner of turns, `room` for the gateway. @param notify runs the operator's command; default nobody is notified */
export function createDmRoom(
  context: GatewayContext,
  turns: TurnPort,
  notify: Notifier["notify"] = () => undefined,
): { readonly dm: Dm; readonly elsewhere: () => Elsewhere; readonly room: DmRoom } {
  const { config, store, agents, peers, budgets, clock, random } = context;
  const log = context.log.child({ component: "dm" });
  const dm = createDm({
    gateway: config.name,
    version: VERSION,
    enabled: config.dm.enabled,
    store,
    agents,
    peers,
    ownPin: context.leaves.identity.pin,
    turns,
    connectPeer: createConnectPeer({ leaves: context.leaves, clock, log }),
    budgets,
    log,
    onDeadLetter: deadLetters(context.events, notify),
    clock,
    random,
    tracer: context.tracer,
  });
  const overview = createPeerOverview({
    reader: store.reader,
    peers,
    wayTo: (name) => dm.wayTo(name),
    rosterOf: (name) => dm.rosterOf(name),
    clockOf: (name) => dm.clockOf(name),
    clock,
  });
  const elsewhere = (): Elsewhere => ({
    relays: dm.relays(),
    rosterOf: (peer) => dm.rosterOf(peer),
    isReachable: reachability(store.reader, (name) => dm.wayTo(name)),
  });
  return {
    dm,
    elsewhere,
    room: {
      clientServices: dm.clientServices,
      peerServices: dm.peerServices,
      teammates: (agent) => listTeammates(agents.list(), peers.list(), agent, elsewhere()),
      overview,
      registry: dm.registry,
      start: () => dm.start(),
      drain: () => dm.drain(),
      close: () => dm.close(),
    },
  };
}
