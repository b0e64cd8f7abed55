import { hash } from "node:crypto";

import type { Clock } from "../../base/clock.js";
import type { DeliverDMRequest } from "../../gen/talaria/dm/v1/peer_service.js";
import { invalidField, reasonError } from "../../rpc/rpcError.js";
import type { IncomingMessage } from "../admission/origin.js";
import { fromHop } from "../wire/receiptWire.js";
import { fromTimestamp } from "../../rpc/wire/times.js";
import { expiryHere } from "./expiryHere.js";

const SENDER_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$/;
const KEY = /^[A-Za-z0-9._:-]{1,128}$/;
/** Hops that are kept: messages do not pass through gateways, so there is one before this one. */
const HOPS = 4;

/** Who brings messages from elsewhere, as the listener proved it. */
export interface Bringer {
  /** A gateway that dials this one, or a relay connector. */
  readonly kind: "peer" | "connector";
  /** What this gateway calls it. */
  readonly name: string;
}

/**
 * Reads a message that a peer or connector brought. Its author's gateway is what this gateway calls the bringer, whatever the
 * envelope says.
 * @throws RpcError INVALID_FIELD, BODY_DIGEST_MISMATCH.
 */
export function messageOfEnvelope(request: DeliverDMRequest, bringer: Bringer, clock: Clock): IncomingMessage {
  const { requestId, envelope } = request;
  if (envelope === undefined) throw invalidField("envelope", "is required");
  const { senderAgent, body, bodySha256, inReplyTo, recipientAgent } = envelope;
  if (senderAgent !== "" && !SENDER_NAME.test(senderAgent)) {
    throw invalidField("envelope.sender_agent", "must match [a-zA-Z0-9][a-zA-Z0-9_-]{0,63}");
  }
  if (recipientAgent === "") throw invalidField("envelope.recipient_agent", "is required");
  if (inReplyTo !== "" && !KEY.test(inReplyTo)) {
    throw invalidField("envelope.in_reply_to", "must be a key of at most 128 characters");
  }
  const digest = hash("sha256", body, "buffer");
  if (!digest.equals(bodySha256)) throw reasonError("BODY_DIGEST_MISMATCH");
  const expiresAt = fromTimestamp(envelope.expiresAt);
  if (expiresAt === undefined) throw invalidField("envelope.expires_at", "is required");
  const now = clock.now();
  return {
    origin: {
      kind: "peer",
      peer: bringer.name,
      relay: bringer.kind === "connector",
      agent: senderAgent,
      title: envelope.senderTitle,
      expiresAt: expiryHere(expiresAt, fromTimestamp(envelope.sentAt), now),
      attemptEpoch: Math.max(1, envelope.attemptEpoch),
      attempt: Math.max(1, envelope.attempt),
      hops: envelope.hops.slice(0, HOPS).map((hop) => fromHop(hop, now)),
    },
    key: requestId,
    target: recipientAgent,
    body,
    inReplyTo,
    depth: Math.max(1, envelope.depth),
    traceparent: envelope.trace?.traceparent ?? "",
    tracestate: envelope.trace?.tracestate ?? "",
  };
}
