import type { Budgets } from "../../base/budgets.js";
import { QUOTAS } from "../../base/limits.js";
import type { Random } from "../../base/random.js";
import { formatTraceparent, parseTraceparent, startTrace } from "../../rpc/traceContext.js";
import type { DeliveryDraft } from "../../store/deliveries/deliveryDraft.js";
import { agentAuthorId } from "../../store/deliveries/authorIds.js";
import { ORDERED_ID_BYTES, orderedId } from "../../store/deliveries/orderedId.js";
import { MAIN } from "../addresses/resolveTarget.js";
import type { TurnPort } from "../ports/turnPort.js";
import { botChatOf } from "./botChatOf.js";
import type { CheckedBody } from "./checkShape.js";
import type { DoorOptions } from "./doorOptions.js";
import type { IncomingMessage, Origin } from "./origin.js";
import type { Recipient } from "./resolveRecipient.js";
import type { Sender } from "./sender.js";

/** What was found out about a message. */
export interface CheckedMessage extends CheckedBody {
  readonly sender: Sender;
  readonly digest: Buffer;
}

/** What is admitted of a message that was checked and resolved. */
export function draftOfMessage(
  { budgets, clock, random, turns, gateway, rosterOf }: DoorOptions,
  message: IncomingMessage,
  { sender, digest, body, bodyBytes, bodyCodePoints }: CheckedMessage,
  recipient: Recipient,
): DeliveryDraft {
  const { origin } = message;
  const now = clock.now();
  const far = origin.kind === "peer" ? origin : undefined;
  const { traceparent, tracestate } = traceOf(message, random);
  // One literal: an object of this size that is spread together costs as much as all the checks before it.
  return {
    deliveryId: orderedId("del", now, random.bytes(ORDERED_ID_BYTES)),
    principalScope: sender.scope,
    key: message.key,
    digest,
    route: recipient.route,
    sender: sender.author,
    attribution: sender.attribution,
    replyTo: replyWayOf(origin, sender, turns, random),
    startedBy: origin.kind === "agent" ? authorAs(recipient, origin.startedBy, rosterOf) : "",
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
    expiresAt: recipient.expiresAt ?? now + lifeOf(far?.expiresAt, now, budgets),
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

/**
 * A peer's main agent has two names, its own as an author and `main` as a recipient; the loop guard knows an author by one. @returns the
 * author under the recipient's name where both are that agent
 */
function authorAs(
  { recipientGateway: peer, recipientAgent }: Recipient,
  author: string,
  rosterOf: DoorOptions["rosterOf"],
) {
  const main = peer === "" ? undefined : rosterOf?.(peer)?.rows.find((row) => row.main);
  if (main === undefined) return author;
  const names = [MAIN, main.name];
  const same = names.includes(recipientAgent) && names.some((name) => agentAuthorId(peer, name) === author);
  return same ? agentAuthorId(peer, recipientAgent) : author;
}

/** A gateway sends nothing that outlives the memory for keys that this one has told it of; what comes with a longer life has that one. */
function lifeOf(expiresAt: number | undefined, now: number, { messageLifetimeMs, dedupeHorizonMs }: Budgets): number {
  return expiresAt === undefined ? messageLifetimeMs : Math.min(expiresAt - now, dedupeHorizonMs);
}

function replyWayOf(origin: Origin, sender: Sender, turns: TurnPort, random: Random): DeliveryDraft["replyTo"] {
  if (origin.kind === "agent") return { kind: "session", sessionId: origin.sessionId };
  if (origin.kind !== "client" || sender.agent === undefined) return undefined;
  return { kind: "botChat", chat: botChatOf(sender.agent.name, turns, random) };
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
