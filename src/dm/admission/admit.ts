import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import { newId } from "../../base/ids.js";
import { LIMITS, QUOTAS } from "../../base/limits.js";
import type { Random } from "../../base/random.js";
import { reasonError, RpcError } from "../../rpc/rpcError.js";
import { formatTraceparent, parseTraceparent, startTrace } from "../../rpc/traceContext.js";
import { admitDeliveries, admitDelivery, type BatchAdmission } from "../../store/deliveries/admitDelivery.js";
import type { BotChatDraft, DeliveryDraft } from "../../store/deliveries/deliveryDraft.js";
import { ORDERED_ID_BYTES, orderedId } from "../../store/deliveries/orderedId.js";
import { lanePosition, readDelivery, readDeliveryByKey } from "../../store/deliveries/readDelivery.js";
import type { DeliveryRoute, StoredDelivery } from "../../store/deliveries/storedDelivery.js";
import type { Store } from "../../store/store.js";
import { resolveTarget, type Neighbourhood } from "../addresses/resolveTarget.js";
import { parseTarget, type ParsedTarget } from "../addresses/targetGrammar.js";
import type { AfterCommit } from "../afterCommit.js";
import type { AgentDirectory, PeerDirectory } from "../ports/directory.js";
import type { TurnPort } from "../ports/turnPort.js";
import type { ConnectorDirectory } from "../relay/connectorDirectory.js";
import { relayLifeMs } from "../relay/relayLife.js";
import type { RelayNamespace } from "../relay/relayRosters.js";
import { checkBody, type CheckedBody, checkKey } from "./checkShape.js";
import { drainingRefusal } from "./drainingRefusal.js";
import { messageDigest } from "./messageDigest.js";
import type { IncomingMessage, Origin } from "./origin.js";
import { grantedAgents } from "../peers/grantedAgents.js";
import { ambiguousTarget, storeRefusal, undiallablePeer, unknownPeer, unknownTarget } from "./refusals.js";
import { deriveSender, type Sender } from "./sender.js";

/** What the door needs. */
export interface DoorOptions {
  /** This gateway's own name. */
  readonly gateway: string;
  /** Whether messages are accepted at all. */
  readonly enabled: boolean;
  readonly store: Pick<Store, "writer" | "reader">;
  readonly agents: AgentDirectory;
  readonly peers: PeerDirectory;
  readonly turns: TurnPort;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly random: Random;
  readonly afterCommit: AfterCommit;
  readonly connectors: ConnectorDirectory;
  /** Agents behind connectors, as they are at the time of the call. */
  readonly relays: () => readonly RelayNamespace[];
  /** What a peer has said of its agents, for their friendly names; absent = nothing is known. */
  readonly rosterOf?: Neighbourhood["rosterOf"];
  /** Whether the gateway is going down; then nothing is admitted. */
  readonly isDraining: () => boolean;
}

/** A message that is on disk. */
export interface Admitted {
  readonly delivery: StoredDelivery;
  /** Place in its lane, 1 is next; 0 when it does not wait. */
  readonly position: number;
  /** Whether an earlier call made the delivery. */
  readonly replayed: boolean;
}

/** What became of one message of a batch. */
export type BatchResult = Admitted | { readonly refused: RpcError };

/** The one door through which every message of every origin comes. */
export interface Door {
  /**
   * Checks the shape, looks up the key, resolves, derives the author, checks the depth, and commits; resolves when the message is
   * on disk.
   * @throws RpcError with the reasons of the contract; then nothing was kept.
   */
  admit(message: IncomingMessage): Promise<Admitted>;
  /**
   * The same for messages in their order, committed together. After one that was not accepted, later ones for the same recipient
   * are refused with BATCH_ITEM_HELD_BACK.
   * @throws RpcError where the store failed; then nothing was kept.
   */
  admitBatch(messages: readonly IncomingMessage[]): Promise<readonly BatchResult[]>;
}

/** Makes the door. */
export function createDoor(options: DoorOptions): Door {
  const { writer } = options.store;
  const finish = (admission: BatchAdmission): Admitted => {
    if (admission.kind === "heldBack") throw reasonError("BATCH_ITEM_HELD_BACK");
    if (admission.kind === "refused") throw storeRefusal(admission);
    const { delivery, position } = admission;
    if (admission.kind === "accepted") options.afterCommit(admission.effects, delivery);
    return { delivery, position, replayed: admission.kind === "replayed" };
  };
  return {
    async admit(message) {
      const prepared = prepare(options, message, neighbourhoodOf(options));
      if ("delivery" in prepared) return prepared;
      return finish(await writer.execute(admitDelivery, prepared));
    },
    async admitBatch(messages) {
      const results: (BatchResult | undefined)[] = [];
      const drafts: { readonly index: number; readonly draft: DeliveryDraft }[] = [];
      const held = new Set<string>();
      const neighbourhood = neighbourhoodOf(options);
      for (const [index, message] of messages.entries()) {
        const recipient = message.target.toLowerCase();
        const prepared = held.has(recipient)
          ? { refused: reasonError("BATCH_ITEM_HELD_BACK") }
          : attempt(() => prepare(options, message, neighbourhood));
        if ("deliveryId" in prepared) drafts.push({ index, draft: prepared });
        else results[index] = prepared;
        if ("refused" in prepared) held.add(recipient);
      }
      const admissions =
        drafts.length === 0
          ? []
          : await writer.execute(
              admitDeliveries,
              drafts.map(({ draft }) => draft),
            );
      for (const [place, { index }] of drafts.entries()) {
        const admission = admissions[place] ?? { kind: "heldBack" };
        results[index] = attempt(() => finish(admission));
      }
      return results.map((result) => result ?? { refused: reasonError("BATCH_ITEM_HELD_BACK") });
    },
  };
}

function attempt<T>(run: () => T): T | { readonly refused: RpcError } {
  try {
    return run();
  } catch (caught) {
    return { refused: RpcError.from(caught) };
  }
}

function neighbourhoodOf({ agents, peers, relays, rosterOf }: DoorOptions): Neighbourhood {
  return {
    agents: agents.list(),
    peers: peers.list(),
    relays: relays(),
    ...(rosterOf === undefined ? {} : { rosterOf }),
  };
}

/**
 * Everything before the transaction: what is to be admitted, or the delivery that an earlier call made. A replay needs
 * neither its recipient nor its sender's rights any more, so a refusal is given where no such delivery is found; the
 * transaction finds it for a message that would not be refused.
 */
function prepare(
  options: DoorOptions,
  message: IncomingMessage,
  neighbourhood: Neighbourhood,
): DeliveryDraft | Admitted {
  if (options.isDraining()) throw drainingRefusal();
  if (!options.enabled) throw reasonError("MESSAGING_DISABLED");
  if (message.key !== "" || message.origin.kind !== "agent") checkKey(message.key);
  const checked = checkBody(message.body);
  const sender = deriveSender(message.origin, neighbourhood);
  const { target, inReplyTo } = message;
  const digest = messageDigest({ senderId: sender.author.id, target, body: checked.body, inReplyTo });
  try {
    return draftOf(options, message, { sender, digest, ...checked }, checkWay(options, message, sender, neighbourhood));
  } catch (caught) {
    const earlier = findEarlier(options, sender, message, digest);
    if (earlier !== undefined) return earlier;
    throw caught;
  }
}

/** Whether a message may go, and to whom. @throws RpcError. */
function checkWay(
  options: DoorOptions,
  message: IncomingMessage,
  sender: Sender,
  neighbourhood: Neighbourhood,
): Recipient {
  if (message.origin.kind === "peer" && message.origin.expiresAt <= options.clock.now()) {
    throw reasonError("MESSAGE_EXPIRED");
  }
  const recipient = resolve(message, sender, neighbourhood, options);
  checkReference(message, sender, options);
  if (message.depth > LIMITS.depth) throw reasonError("DEPTH_EXCEEDED");
  return recipient;
}

/** The delivery that an earlier call with the same key made. @throws RpcError KEY_CONFLICT. */
function findEarlier(
  { store }: DoorOptions,
  { scope }: Sender,
  { key, origin }: IncomingMessage,
  digest: Buffer,
): Admitted | undefined {
  if (key === "") return undefined;
  const delivery = readDeliveryByKey(store.reader, scope, key);
  if (delivery === undefined) return undefined;
  if (!digest.equals(delivery.digest)) throw reasonError("KEY_CONFLICT");
  // A later attempt epoch is not a replay: the transaction decides.
  if (origin.kind === "peer" && origin.attemptEpoch > delivery.attemptEpoch) return undefined;
  return { delivery, position: lanePosition(store.reader, delivery), replayed: true };
}

type Recipient = Pick<DeliveryDraft, "route" | "recipientGateway" | "recipientAgent" | "recipientName"> &
  Partial<Pick<DeliveryDraft, "recipientChat" | "expiresAt">>;

function resolve(
  { target, origin }: IncomingMessage,
  sender: Sender,
  neighbourhood: Neighbourhood,
  { turns, random, peers, connectors, clock, budgets }: DoorOptions,
): Recipient {
  // A peer or connector reaches the agents of this gateway alone: messages do not pass through.
  const reachable =
    origin.kind === "peer"
      ? {
          agents: grantedAgents((origin.relay ? connectors : peers).get(origin.peer), neighbourhood.agents),
          peers: [],
        }
      : neighbourhood;
  const parsed: ParsedTarget =
    origin.kind === "peer" ? { kind: "local", name: target.toLowerCase() } : parseTarget(target);
  const resolution = resolveTarget(parsed, reachable);
  switch (resolution.kind) {
    case "unknown":
      throw unknownTarget(target, reachable, sender.agent?.name);
    case "unknownPeer":
      throw origin.kind === "peer"
        ? unknownTarget(target, reachable)
        : unknownPeer(resolution.peer, reachable, sender.agent?.name);
    case "ambiguous":
      throw ambiguousTarget(target, resolution.forms);
    case "relayOffline":
      throw reasonError("TARGET_OFFLINE", undefined, { metadata: { connector: resolution.connector } });
    case "relay":
      return {
        route: "relay_outbound",
        recipientGateway: resolution.connector,
        recipientAgent: resolution.agent,
        recipientName: resolution.title,
        expiresAt: clock.now() + relayLifeMs(budgets),
      };
    case "peer": {
      const { peer, agent } = resolution;
      if (peer.address === "") throw undiallablePeer(peer.name);
      return {
        route: "peer_outbound",
        recipientGateway: peer.name,
        recipientAgent: agent,
        recipientName: agent === "main" ? peer.name : agent,
      };
    }
    case "local": {
      const { name, title, messaging } = resolution.agent;
      if (name === sender.agent?.name) throw reasonError("TARGET_SELF");
      if (!messaging) throw reasonError("MESSAGING_DISABLED");
      const route: DeliveryRoute = origin.kind !== "peer" ? "local" : origin.relay ? "relay_inbound" : "peer_inbound";
      return {
        route,
        recipientGateway: "",
        recipientAgent: name,
        recipientName: title,
        recipientChat: chatOf(name, turns, random),
      };
    }
  }
}

/** What a message answers must be known here, and be the sender's own affair. A peer's word for its own keys is kept as it is. */
function checkReference({ origin, inReplyTo }: IncomingMessage, sender: Sender, { store }: DoorOptions): void {
  if (inReplyTo === "" || origin.kind === "peer") return;
  const answered = readDelivery(store.reader, inReplyTo);
  const own =
    sender.agent === undefined ||
    answered?.sender.id === sender.author.id ||
    (answered?.recipientGateway === "" && answered.recipientAgent === sender.agent.name);
  if (answered === undefined || !own) throw reasonError("IN_REPLY_TO_UNKNOWN");
}

/** What was found out about a message. */
interface Checked extends CheckedBody {
  readonly sender: Sender;
  readonly digest: Buffer;
}

// One literal: an object of this size that is spread together costs as much as all the checks before it.
function draftOf(
  { budgets, clock, random, turns, gateway }: DoorOptions,
  message: IncomingMessage,
  { sender, digest, body, bodyBytes, bodyCodePoints }: Checked,
  recipient: Recipient,
): DeliveryDraft {
  const { origin } = message;
  const now = clock.now();
  const far = origin.kind === "peer" ? origin : undefined;
  const { traceparent, tracestate } = traceOf(message, random);
  return {
    deliveryId: orderedId("del", now, random.bytes(ORDERED_ID_BYTES)),
    principalScope: sender.scope,
    key: message.key,
    digest,
    route: recipient.route,
    sender: sender.author,
    attribution: sender.attribution,
    replyTo: replyWayOf(origin, sender, turns, random),
    startedBy: origin.kind === "agent" ? origin.startedBy : "",
    target: message.target,
    recipientGateway: recipient.recipientGateway,
    recipientAgent: recipient.recipientAgent,
    recipientName: recipient.recipientName,
    body,
    bodyBytes,
    bodyCodePoints,
    inReplyTo: message.inReplyTo,
    depth: message.depth,
    attemptEpoch: far?.attemptEpoch ?? 1,
    attempt: far?.attempt ?? 1,
    hops: far?.hops ?? [],
    expiresAt: recipient.expiresAt ?? far?.expiresAt ?? now + budgets.messageLifetimeMs,
    traceparent,
    tracestate,
    recipientChat: recipient.recipientChat,
    gateway,
    bounds: {
      ...QUOTAS,
      loopMessages: budgets.loopGuardMessages,
      loopWindowMs: budgets.loopGuardWindowMs,
      loopCooldownMs: budgets.loopGuardCooldownMs,
    },
    now,
  };
}

function replyWayOf(origin: Origin, sender: Sender, turns: TurnPort, random: Random): DeliveryDraft["replyTo"] {
  if (origin.kind === "agent") return { kind: "session", sessionId: origin.sessionId };
  if (origin.kind !== "client" || sender.agent === undefined) return undefined;
  return { kind: "botChat", chat: chatOf(sender.agent.name, turns, random) };
}

function chatOf(agent: string, turns: TurnPort, random: Random): BotChatDraft {
  return { agent, sessionId: newId("ses", random), policy: turns.freezePolicy(agent) };
}

function traceOf(
  { traceparent, tracestate }: IncomingMessage,
  random: Random,
): { traceparent: string; tracestate: string } {
  if (parseTraceparent(traceparent) === undefined) {
    return { traceparent: formatTraceparent(startTrace(random)), tracestate: "" };
  }
  return { traceparent, tracestate: Buffer.byteLength(tracestate) > 512 ? "" : tracestate };
}
