import type { Client } from "@grpc/grpc-js";

import {
  PeerServiceService,
  type DeliverDMRequest,
  type DeliverDMResponse,
  type DeliverDMResult,
} from "../../../gen/talaria/dm/v1/peer_service.js";
import { unaryCall } from "../../../rpc/clients/unaryCall.js";
import { RpcError } from "../../../rpc/rpcError.js";
import {
  endFarDelivery,
  recordAcceptances,
  recordFailedAttempt,
  recordReachable,
} from "../../../store/deliveries/attemptCommands.js";
import { applyReceipts } from "../../../store/deliveries/applyReceipts.js";
import { readDestination } from "../../../store/deliveries/destinations.js";
import type { WaitingMessage } from "../../../store/deliveries/outboundDeliveries.js";
import { backoffMs, judgeAttempt } from "../../retryPolicy.js";
import { failureOf } from "../../../rpc/wire/failure.js";
import { deliveryPlace } from "../../trace/deliveryTrace.js";
import { beginHop, type Hop } from "../../trace/hopSpan.js";
import { errorOfFailure } from "../../wire/fromFailure.js";
import { fromHop, fromReceipt } from "../../wire/receiptWire.js";
import type { BatchStream } from "./batchStream.js";
import { makeEnvelope } from "./makeEnvelope.js";
import type { PeerContext } from "./peerContext.js";

/** Messages that a peer is asked about at once, after a call broke. */
const ASKED_AT_ONCE = 8;

/** What came of handling one message. */
export type SendOutcome =
  /** Its lane may go on. */
  | "moved"
  /** Its lane waits until the time that is stored with the message. */
  | "waits"
  /** The peer as a whole does not answer. */
  | "unreachable";

/** Makes one attempt at a waiting message of a peer and records what came of it. */
export async function sendOne(
  context: PeerContext,
  client: Client,
  delivery: WaitingMessage,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const { clock, budgets } = context;
  if (clock.now() > delivery.expiresAt) return settleExpired(context, client, delivery, signal);
  const { hop, request } = begin(context, delivery, PeerServiceService.deliverDm.path);
  let response: DeliverDMResponse;
  try {
    response = await unaryCall(client, PeerServiceService.deliverDm, request, {
      signal,
      timeoutMs: budgets.unaryDeadlineMs,
      trace: hop.at,
    });
    hop.end();
    await accepted(context, [{ delivery, response }]);
    return "moved";
  } catch (caught) {
    const error = RpcError.from(caught);
    hop.end(error);
    return notAccepted(context, delivery, error);
  }
}

/**
 * Makes one attempt at several waiting messages of a peer, in their order, and records what came of each. Where the call broke, the
 * peer is asked about each message: it may have been stored without our hearing of it.
 */
export async function sendBatch(
  context: PeerContext,
  client: Client,
  stream: Pick<BatchStream, "send">,
  deliveries: readonly WaitingMessage[],
  signal: AbortSignal,
): Promise<void> {
  const begun = deliveries.map((delivery) => begin(context, delivery, PeerServiceService.deliverDMs.path));
  let results: readonly DeliverDMResult[];
  try {
    results = await stream.send(begun.map(({ request }) => request));
  } catch (caught) {
    const error = RpcError.from(caught);
    for (const { hop } of begun) hop.end(error);
    for (let from = 0; from < deliveries.length; from += ASKED_AT_ONCE) {
      const some = deliveries.slice(from, from + ASKED_AT_ONCE);
      await Promise.all(some.map((delivery) => settleBroken(context, client, delivery, error, signal)));
    }
    return;
  }
  const taken: Acceptance[] = [];
  const settled: Promise<unknown>[] = [];
  for (const [index, delivery] of deliveries.entries()) {
    const answer = answerFor(delivery, results[index]);
    begun[index]?.hop.end(answer instanceof RpcError ? answer : undefined);
    if (!(answer instanceof RpcError)) taken.push({ delivery, response: answer });
    // A held one was not tried: the message before it decides when the lane goes on.
    else if (answer.reason !== "BATCH_ITEM_HELD_BACK") settled.push(notAccepted(context, delivery, answer));
  }
  await Promise.all([accepted(context, taken), ...settled]);
}

/** A message that its peer has on disk. */
interface Acceptance {
  readonly delivery: WaitingMessage;
  readonly response: DeliverDMResponse;
}

/** What a batch's answer says of a message: the acceptance, or why there is none. */
function answerFor({ deliveryId }: WaitingMessage, item: DeliverDMResult | undefined): DeliverDMResponse | RpcError {
  const result = item?.requestId === deliveryId ? item.result : undefined;
  if (result === undefined) {
    return new RpcError("MALFORMED_MESSAGE", { message: "The peer's answer to the batch leaves a message out." });
  }
  return result.$case === "accepted" ? result.value : errorOfFailure(result.value);
}

/** Begins an attempt at a message. */
function begin(
  { store, clock, tracer }: PeerContext,
  delivery: WaitingMessage,
  method: string,
): { readonly hop: Hop; readonly request: DeliverDMRequest } {
  const parent = deliveryPlace(tracer, delivery);
  const hop = beginHop({ tracer, clock }, { kind: "client", method, peer: delivery.recipientGateway, parent });
  const request = makeEnvelope(store.reader, delivery, clock.now(), hop.at);
  if (request === undefined) throw new Error(`delivery ${delivery.deliveryId} waits without a body`);
  return { hop, request };
}

async function settleBroken(
  context: PeerContext,
  client: Client,
  delivery: WaitingMessage,
  error: RpcError,
  signal: AbortSignal,
): Promise<void> {
  if (judgeAttempt(error).kind === "undecided") {
    const known = await askPeer(context, client, delivery, signal).catch(() => false);
    if (known) return;
  }
  await notAccepted(context, delivery, error);
}

/**
 * Asks a peer what became of a message and stores the answer.
 * @returns whether the peer knows the message in its attempt epoch; it throws where it could not be asked.
 */
export async function askPeer(
  context: PeerContext,
  client: Client,
  delivery: WaitingMessage,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, clock, budgets, afterCommit } = context;
  const gateway = delivery.recipientGateway;
  try {
    const { receipt } = await unaryCall(
      client,
      PeerServiceService.getReceipt,
      { key: delivery.deliveryId },
      { signal, timeoutMs: budgets.unaryDeadlineMs },
    );
    const now = clock.now();
    const stored = receipt === undefined ? undefined : fromReceipt(receipt, gateway, now);
    if (stored === undefined) throw new RpcError("MALFORMED_MESSAGE", { message: "The peer's receipt says nothing." });
    // The receipt of an earlier attempt epoch says that this one's message never got there.
    if (stored.attemptEpoch < delivery.attemptEpoch) return false;
    const { deliveryId, attemptEpoch } = delivery;
    afterCommit(
      stored.attemptEpoch > attemptEpoch
        ? // An epoch that this gateway did not open, as after its store was set back: nobody can tell what became of this one.
          await store.writer.execute(endFarDelivery, { deliveryId, end: "lost", now })
        : await store.writer.execute(applyReceipts, { gateway, receipts: [stored], now }),
    );
    return true;
  } catch (caught) {
    const error = RpcError.from(caught);
    if (error.reason === "UNKNOWN_DELIVERY") return false;
    throw error;
  }
}

async function accepted(context: PeerContext, taken: readonly Acceptance[]): Promise<void> {
  const gateway = taken[0]?.delivery.recipientGateway;
  if (gateway === undefined) return;
  const { store, clock, afterCommit } = context;
  const now = clock.now();
  const attempts = taken.map(({ delivery: { deliveryId, attempts }, response: { hop } }) => {
    const attempt = attempts + 1;
    const known = hop === undefined ? { gateway, acceptedAt: now, deliveryId: "" } : fromHop(hop, now);
    return { deliveryId, hop: { ...known, gateway, attempt }, now };
  });
  afterCommit(await store.writer.execute(recordAcceptances, attempts));
  if (readDestination(store.reader, gateway).failures > 0) {
    await store.writer.execute(recordReachable, { gateway, now });
  }
  const receipts = taken.flatMap(({ response: { receipt } }) => {
    const stored = receipt === undefined ? undefined : fromReceipt(receipt, gateway, now);
    return stored === undefined ? [] : [stored];
  });
  if (receipts.length > 0) afterCommit(await store.writer.execute(applyReceipts, { gateway, receipts, now }));
}

async function notAccepted(context: PeerContext, delivery: WaitingMessage, error: RpcError): Promise<SendOutcome> {
  const { store, clock, random, budgets, afterCommit, log } = context;
  const { deliveryId, recipientGateway: gateway } = delivery;
  const verdict = judgeAttempt(error);
  const failure = failureOf(error);
  const now = clock.now();
  log.info({ deliveryId, gateway, reason: error.reason, verdict: verdict.kind }, "message not accepted by its peer");
  if (verdict.kind === "refused") {
    afterCommit(await store.writer.execute(endFarDelivery, { deliveryId, end: "refused", failure, now }));
    return "moved";
  }
  const wait = backoffMs({
    failures: delivery.attempts + 1,
    minMs: budgets.peerRetryMinMs,
    maxMs: budgets.peerRetryMaxMs,
    fraction: random.fraction(),
    ...(verdict.kind === "notYet" && verdict.retryAfterMs !== undefined ? { retryAfterMs: verdict.retryAfterMs } : {}),
  });
  const destinationFailed = verdict.kind === "undecided" || verdict.destination;
  afterCommit(
    await store.writer.execute(recordFailedAttempt, {
      deliveryId,
      gateway,
      error: failure,
      undecided: verdict.kind === "undecided",
      destinationFailed,
      nextAttemptAt: now + wait,
      now,
    }),
  );
  return destinationFailed ? "unreachable" : "waits";
}

/** EXPIRED is said of what was never accepted only; where that is in doubt, the peer is asked. */
async function settleExpired(
  context: PeerContext,
  client: Client,
  delivery: WaitingMessage,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const { store, clock, afterCommit } = context;
  const { deliveryId } = delivery;
  try {
    if (delivery.undecided && (await askPeer(context, client, delivery, signal))) return "moved";
    afterCommit(await store.writer.execute(endFarDelivery, { deliveryId, end: "expired", now: clock.now() }));
    return "moved";
  } catch (caught) {
    return notAccepted(context, delivery, RpcError.from(caught));
  }
}
