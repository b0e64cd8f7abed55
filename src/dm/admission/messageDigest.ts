import { hash } from "node:crypto";

import { digestOf } from "../../base/digest.js";

/** What a message says and to whom: nothing that changes between two attempts at it. Source: DESIGN section 5. */
export interface DigestedMessage {
  /** Canonical identity of the sender. */
  readonly senderId: string;
  /** As typed. */
  readonly target: string;
  /** Trimmed. */
  readonly body: string;
  /** Empty for none. */
  readonly inReplyTo: string;
}

/** The 32 bytes by which two sends of one message are known to be the same. */
export function messageDigest({ senderId, target, body, inReplyTo }: DigestedMessage): Buffer {
  return Buffer.from(digestOf([senderId, target, body, inReplyTo]), "hex");
}

/** SHA-256 of a body's UTF-8 bytes, by which a receiver sees damage on the way. */
export function bodySha256(body: string): Buffer {
  return hash("sha256", body, "buffer");
}
