import { assertNever } from "../../../base/assertNever.js";
import { LIMITS } from "../../../base/limits.js";
import { RELAY_ROWS, readRelayRows } from "../../relay/relayRow.js";
import type {
  ConnectRequest,
  RelayAccepted,
  RelayAskAnswer,
  RelayRefused,
} from "../../../gen/talaria/dm/v1/relay_service.js";
import { invalidField, reasonError, RpcError } from "../../../rpc/rpcError.js";
import { checkCount } from "../../../rpc/wire/checkCount.js";
import { failureOf, toFailure } from "../../../rpc/wire/failure.js";
import { endFarDelivery, recordAcceptances } from "../../../store/deliveries/attemptCommands.js";
import { cancelDelivery } from "../../../store/deliveries/cancelDelivery.js";
import { lanePosition, readDelivery, readDeliveryByKey } from "../../../store/deliveries/readDelivery.js";
import { releaseLapsed, returnToLane } from "../../../store/deliveries/relayCommands.js";
import type { StoredDelivery } from "../../../store/deliveries/storedDelivery.js";
import type { StoredFailure } from "../../../store/storedFailure.js";
import { remoteScope } from "../../admission/sender.js";
import { backoffMs } from "../../retryPolicy.js";
import { deliverBatch } from "../../services/deliverBatch.js";
import { fromFailure } from "../../wire/fromFailure.js";
import { fromHop, toReceipt } from "../../wire/receiptWire.js";
import type { RelayFrame } from "./relayContext.js";
import { applyConnectorReceipts } from "./relayReceipts.js";
import type { RelaySession } from "./relaySession.js";

/** Receipts of one frame. Source: the contract. */
const RECEIPTS = 256;

/**
 * Does what a frame of a connector asks for; resolves once it is stored and answered, so that a connector is held to what is done.
 * @throws RpcError for a frame that breaks the contract; the connection ends then.
 */
export async function handleFrame(session: RelaySession, frame: ConnectRequest["frame"]): Promise<void> {
  const { context, connector } = session;
  switch (frame?.$case) {
    case undefined:
      throw reasonError("FRAME_INVALID", undefined, { message: "A frame is empty." });
    case "hello":
      throw reasonError("FRAME_OUT_OF_PHASE", { frame: "hello", phase: "connected" });
    case "roster": {
      const { entries } = frame.value;
      const rows = readRelayRows(entries);
      const dropped = entries.length - rows.length;
      if (dropped > 0)
        context.log.warn({ connector, dropped, limit: RELAY_ROWS }, "rows of a connector's roster dropped");
      context.rosters.publish(connector, rows);
      return;
    }
    case "heartbeat":
      session.leases.renew(frame.value.leaseIds, context.clock.monotonic());
      return;
    case "accepted":
      return onAccepted(session, frame.value);
    case "refused":
      return onRefused(session, frame.value);
    case "receipts": {
      const { receipts } = frame.value;
      checkCount("receipts.receipts", receipts.length, RECEIPTS);
      const keys = (await applyConnectorReceipts(session, receipts)).map(({ deliveryId }) => deliveryId);
      if (keys.length > 0) await session.send({ $case: "receiptsStored", value: { keys } });
      return;
    }
    case "deliver": {
      const { items } = frame.value;
      checkCount("deliver.items", items.length, LIMITS.batchItems);
      const results = await deliverBatch(context, { kind: "connector", name: connector }, items);
      await session.send({ $case: "delivered", value: { results } });
      return;
    }
    case "askAnswer":
      return onAskAnswer(session, frame.value);
    case "cancelAnswer":
      session.onCancelAnswer(frame.value);
      return;
    case "ask": {
      const { key } = frame.value;
      const own = ownMessage(session, key);
      await session.send({ $case: "askAnswer", value: { key, receipt: own && receiptOf(session, own) } });
      return;
    }
    case "cancel":
      await session.send(await withdraw(session, frame.value.key));
      return;
    default:
      return assertNever(frame, "relay frame");
  }
}

async function onAccepted(session: RelaySession, { leaseId, key, acceptance }: RelayAccepted): Promise<void> {
  const { connector, context } = session;
  const { store, clock, afterCommit } = context;
  const delivery = readDelivery(store.reader, key);
  if (delivery?.recipientGateway !== connector || delivery.state !== "queued") return;
  if (!session.leases.holds(key, leaseId)) {
    // It may be an earlier epoch's: a receipt says which.
    if (delivery.undecided && !session.leases.has(key)) await session.ask(key);
    return;
  }
  const now = clock.now();
  const attempt = delivery.attempts;
  const hop =
    acceptance?.hop === undefined
      ? { gateway: connector, acceptedAt: now, attempt, deliveryId: "" }
      : { ...fromHop(acceptance.hop, now), gateway: connector, attempt };
  afterCommit(await store.writer.execute(recordAcceptances, [{ deliveryId: key, hop, now }]));
  session.leases.end(key);
  session.asked.delete(key);
  session.kick();
  if (acceptance?.receipt !== undefined && acceptance.receipt.key === key) {
    await applyConnectorReceipts(session, [acceptance.receipt]);
  }
}

async function onRefused(session: RelaySession, { leaseId, key, failure: said }: RelayRefused): Promise<void> {
  const { connector, context } = session;
  const { store, clock, random, budgets, afterCommit, log } = context;
  if (!session.leases.holds(key, leaseId)) return;
  const failure: StoredFailure = said === undefined ? failureOf(new RpcError("PEER_REFUSED")) : fromFailure(said);
  const now = clock.now();
  log.info({ deliveryId: key, connector, reason: failure.reason, retryable: failure.retryable }, "message refused");
  if (failure.retryable) {
    const failures = readDelivery(store.reader, key)?.attempts ?? 1;
    const wait = backoffMs({
      failures,
      minMs: budgets.peerRetryMinMs,
      maxMs: Math.min(budgets.peerRetryMaxMs, budgets.relayLeaseMs),
      fraction: random.fraction(),
    });
    const returned = { connector, deliveryId: key, error: failure, nextAttemptAt: now + wait, now };
    afterCommit(await store.writer.execute(returnToLane, returned));
  } else {
    afterCommit(await store.writer.execute(endFarDelivery, { deliveryId: key, end: "refused", failure, now }));
  }
  session.leases.end(key);
  session.kick();
}

async function onAskAnswer(session: RelaySession, { key, receipt }: RelayAskAnswer): Promise<void> {
  const { connector, context } = session;
  const { store, clock, afterCommit } = context;
  if (!session.asked.has(key)) return;
  if (receipt !== undefined) {
    if (receipt.key !== key) throw invalidField("ask_answer.receipt.key", "must be the key that was asked for");
    await applyConnectorReceipts(session, [receipt]);
  }
  const delivery = readDelivery(store.reader, key);
  // The receipt of an earlier attempt epoch says that this one's message never got there.
  if (receipt !== undefined && (delivery?.state !== "queued" || receipt.attemptEpoch >= delivery.attemptEpoch)) return;
  session.asked.delete(key);
  const now = clock.now();
  const effects =
    delivery?.state === "claimed"
      ? await store.writer.execute(endFarDelivery, { deliveryId: key, end: "lost", now })
      : await store.writer.execute(releaseLapsed, { connector, deliveryId: key, now });
  afterCommit(effects);
  session.kick();
}

async function withdraw(session: RelaySession, key: string): Promise<RelayFrame> {
  const { store, clock, afterCommit } = session.context;
  const own = ownMessage(session, key);
  const { deliveryId = "" } = own ?? {};
  const result = await store.writer.execute(cancelDelivery, { deliveryId, inFlight: false, now: clock.now() });
  if (result.kind === "missing") return cancelAnswer({ key, receipt: undefined, failure: undefined });
  if (result.kind === "cancelled") afterCommit(result.effects);
  const receipt = receiptOf(session, result.delivery);
  if (result.delivery.state === "cancelled") return cancelAnswer({ key, receipt, failure: undefined });
  const error = reasonError(result.kind === "ended" ? "DELIVERY_ENDED" : "DELIVERY_NOT_CANCELLABLE");
  return cancelAnswer({ key, receipt, failure: toFailure(failureOf(error)) });
}

function cancelAnswer(value: Extract<RelayFrame, { $case: "cancelAnswer" }>["value"]): RelayFrame {
  return { $case: "cancelAnswer", value };
}

/** A message that this connector sent up. */
function ownMessage({ connector, context }: RelaySession, key: string): StoredDelivery | undefined {
  return readDeliveryByKey(context.store.reader, remoteScope(connector, true), key);
}

function receiptOf({ context }: RelaySession, delivery: StoredDelivery) {
  return toReceipt(delivery, lanePosition(context.store.reader, delivery));
}
