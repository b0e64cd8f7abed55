import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import { newId } from "../../base/ids.js";
import { LIMITS } from "../../base/limits.js";
import type { Random } from "../../base/random.js";
import { DirectMessageServiceService } from "../../gen/talaria/dm/v1/direct_message_service.js";
import { implementService, type ServiceImplementation } from "../../rpc/harness/implementService.js";
import { defineServerStream, defineUnary } from "../../rpc/harness/methods.js";
import { createPageTokens, cutPage, pageSizeOf } from "../../rpc/pageToken.js";
import type { ClientPrincipal, Principal } from "../../rpc/principal.js";
import { invalidField, reasonError } from "../../rpc/rpcError.js";
import { formatTraceparent } from "../../rpc/traceContext.js";
import { isDead } from "../../store/deliveries/deliveryState.js";
import { cancelDelivery } from "../../store/deliveries/cancelDelivery.js";
import { listDeliveries } from "../../store/deliveries/listDeliveries.js";
import { lanePosition, readDelivery } from "../../store/deliveries/readDelivery.js";
import { redriveDelivery } from "../../store/deliveries/redriveDelivery.js";
import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";
import type { Store } from "../../store/store.js";
import type { Door } from "../admission/door.js";
import { checkKey } from "../admission/checkShape.js";
import type { AfterCommit } from "../afterCommit.js";
import type { DeliveryHub } from "../deliveryHub.js";
import type { AgentDirectory } from "../ports/directory.js";
import type { TurnPort } from "../ports/turnPort.js";
import { relayLifeMs } from "../relay/relayLife.js";
import type { Transport } from "../transports/transport.js";
import { toDelivery } from "../wire/deliveryWire.js";
import { storedState } from "../wire/stateWire.js";
import { watchDelivery } from "./watchDelivery.js";

/** What the client-facing service needs. */
export interface DirectMessageServiceOptions {
  readonly door: Door;
  readonly store: Pick<Store, "writer" | "reader" | "homeKey">;
  readonly hub: DeliveryHub;
  readonly turns: TurnPort;
  readonly transports: readonly Transport[];
  readonly agents: AgentDirectory;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly random: Random;
  readonly afterCommit: AfterCommit;
}

/** Serves direct messages to clients. */
export function createDirectMessageService(options: DirectMessageServiceOptions): ServiceImplementation {
  const { door, store, hub } = options;
  const tokens = createPageTokens(store.homeKey);
  return implementService(DirectMessageServiceService, {
    sendDirectMessage: defineUnary({
      async handle(request, { principal, joinTrace }) {
        const client = writerOf(principal);
        const { onBehalfOf } = request;
        if (onBehalfOf !== "" && client.role !== "operator") throw reasonError("PERMISSION_DENIED");
        const { delivery, position, replayed } = await door.admit({
          origin: { kind: "client", principal: client.name, ...(onBehalfOf === "" ? {} : { onBehalfOf }) },
          key: request.requestId,
          target: request.target,
          body: request.body,
          inReplyTo: request.inReplyTo,
          depth: 1,
          traceparent: formatTraceparent(joinTrace(request.trace?.traceparent ?? "")),
          tracestate: request.trace?.tracestate ?? "",
        });
        return { delivery: toDelivery(delivery, position), replayed };
      },
    }),
    getDelivery: defineUnary({
      async handle({ deliveryId }, { principal }) {
        return { delivery: shown(options, visible(options, principal, deliveryId)) };
      },
    }),
    listDeliveries: defineUnary({
      async handle(request, { principal }) {
        const client = clientOf(principal);
        const limit = pageSizeOf(request.pageSize);
        if (limit > LIMITS.pageSizeMax)
          throw invalidField("page_size", `must be at most ${String(LIMITS.pageSizeMax)}`);
        const list = ["deliveries", request.agent, request.gateway, ...[...request.states].sort()];
        const place = tokens.read(list, request.pageToken);
        const rows = listDeliveries(store.reader, {
          limit: limit + 1,
          ...(place === undefined ? {} : { beforeSequence: Number(place[0]) }),
          states: request.states.map((state, index) => {
            const stored = storedState(state);
            if (stored === undefined) throw invalidField(`states[${String(index)}]`, "is not a known state");
            return stored;
          }),
          agent: request.agent,
          gateway: request.gateway,
          ...(client.role === "client" ? { scope: scopeOf(client) } : {}),
        });
        const { page, last } = cutPage(rows, limit, ({ reply }) => Buffer.byteLength(reply?.text ?? ""));
        return {
          deliveries: page.map((row) => ({ ...toDelivery(row, lanePosition(store.reader, row)), body: "" })),
          nextPageToken: last === undefined ? "" : tokens.make(list, [last.sequence]),
        };
      },
    }),
    watchDelivery: defineServerStream({
      handle({ deliveryId, cursor }, { principal, signal, draining }) {
        visible(options, principal, deliveryId);
        return watchDelivery({ reader: store.reader, hub, deliveryId, cursor, signal, draining });
      },
    }),
    cancelDelivery: defineUnary({
      async handle({ requestId, deliveryId }, { principal }) {
        checkKey(requestId);
        writerOf(principal);
        return cancel(options, visible(options, principal, deliveryId));
      },
    }),
    redriveDelivery: defineUnary({
      async handle({ requestId, deliveryId }, { principal }) {
        checkKey(requestId);
        writerOf(principal);
        return { delivery: await redrive(options, visible(options, principal, deliveryId), requestId) };
      },
    }),
  });
}

async function cancel(options: DirectMessageServiceOptions, delivery: StoredDelivery) {
  // No attempt begins between a look at what is on its way and the commit, or while the far side is asked.
  const releases = options.transports.map((transport) => transport.withhold(delivery));
  try {
    return await withdraw(options, delivery, releases.includes(undefined));
  } finally {
    for (const release of releases) release?.();
  }
}

async function withdraw(options: DirectMessageServiceOptions, { deliveryId }: StoredDelivery, inFlight: boolean) {
  const { store, clock, transports, afterCommit } = options;
  const result = await store.writer.execute(cancelDelivery, { deliveryId, inFlight, now: clock.now() });
  switch (result.kind) {
    case "missing":
      throw reasonError("UNKNOWN_DELIVERY");
    case "cancelled":
      afterCommit(result.effects);
      return { delivery: shown(options, result.delivery), pending: false };
    case "ended":
      if (result.delivery.state === "cancelled") return { delivery: shown(options, result.delivery), pending: false };
      throw reasonError("DELIVERY_ENDED");
    case "started":
      throw reasonError("DELIVERY_NOT_CANCELLABLE");
    case "far": {
      const transport = transports.find((one) => one.serves(result.delivery.recipientGateway));
      const answer = (await transport?.cancel(result.delivery, !inFlight)) ?? "pending";
      if (answer === "started") throw reasonError("DELIVERY_NOT_CANCELLABLE");
      const after = readDelivery(store.reader, deliveryId) ?? result.delivery;
      return { delivery: shown(options, after), pending: answer === "pending" };
    }
  }
}

async function redrive(options: DirectMessageServiceOptions, dead: StoredDelivery, requestId: string) {
  const { store, clock, random, turns, budgets, afterCommit } = options;
  const now = clock.now();
  const { recipientGateway, recipientAgent, deliveryId, sender } = dead;
  if (isDead(dead.state)) checkRecipient(options, dead);
  const chat =
    recipientGateway === ""
      ? { agent: recipientAgent, sessionId: newId("ses", random), policy: turns.freezePolicy(recipientAgent) }
      : undefined;
  const result = await store.writer.execute(redriveDelivery, {
    deliveryId,
    requestId,
    expiresAt: now + (dead.route === "relay_outbound" ? relayLifeMs(budgets) : budgets.messageLifetimeMs),
    ...(chat === undefined ? {} : { chat }),
    attribution: `Message from ${sender.displayName} (${sender.id}):`,
    now,
  });
  if (result.kind === "missing") throw reasonError("UNKNOWN_DELIVERY");
  if (result.kind === "notDead") {
    throw reasonError("DELIVERY_NOT_DEAD", undefined, isDead(result.delivery.state) ? BODY_GONE : {});
  }
  afterCommit(result.effects, result.delivery);
  return shown(options, result.delivery);
}

const BODY_GONE = {
  message: "The text of this dead letter is not kept here any more.",
  hint: "Send the message again as a new one.",
};

/** A dead letter goes to nobody whom a fresh message of its sender would not reach. @throws RpcError. */
function checkRecipient({ agents, transports }: DirectMessageServiceOptions, dead: StoredDelivery): void {
  const { recipientGateway, recipientAgent, route } = dead;
  if (recipientGateway === "") {
    const agent = agents.get(recipientAgent);
    if (agent?.private === true) throw reasonError("UNKNOWN_AGENT", { agent: recipientAgent });
    if (agent?.messaging === false) throw reasonError("MESSAGING_DISABLED");
    return;
  }
  const kind = route === "relay_outbound" ? "relay" : "peer";
  if (!transports.some((transport) => transport.kind === kind && transport.serves(recipientGateway))) {
    throw reasonError("UNKNOWN_PEER", undefined, { metadata: { peer: recipientGateway } });
  }
}

function shown({ store }: DirectMessageServiceOptions, delivery: StoredDelivery) {
  return toDelivery(delivery, lanePosition(store.reader, delivery));
}

/** The delivery, where this client may see it: its own; operators and readers see all. @throws RpcError UNKNOWN_DELIVERY. */
function visible({ store }: DirectMessageServiceOptions, principal: Principal, deliveryId: string): StoredDelivery {
  const client = clientOf(principal);
  const delivery = readDelivery(store.reader, deliveryId);
  if (delivery === undefined || (client.role === "client" && delivery.principalScope !== scopeOf(client))) {
    throw reasonError("UNKNOWN_DELIVERY");
  }
  return delivery;
}

function scopeOf(client: ClientPrincipal): string {
  return `client:${client.name}`;
}

function clientOf(principal: Principal): ClientPrincipal {
  if (principal.kind !== "client") throw reasonError("PERMISSION_DENIED");
  return principal;
}

function writerOf(principal: Principal): ClientPrincipal {
  const client = clientOf(principal);
  if (client.role === "reader") throw reasonError("PERMISSION_DENIED");
  return client;
}
