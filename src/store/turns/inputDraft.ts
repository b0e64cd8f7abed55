import type { StoredAuthor } from "./storedAuthor.js";

/** An input that is about to be queued. */
export interface InputDraft {
  /** A fresh id. */
  readonly inputId: string;
  /** Session it goes to; must exist. */
  readonly sessionId: string;
  /** Principal whose request it is, for idempotency. */
  readonly principal: string;
  /** What the request id is unique within, such as the session's id. */
  readonly requestScope: string;
  /** The caller's key. */
  readonly requestId: string;
  /** Digest of the request's content, 32 bytes; other content under one key conflicts. */
  readonly digest: Uint8Array;
  readonly author: StoredAuthor;
  /** Line that names the author to people and the model; empty for none. */
  readonly attribution: string;
  readonly text: string;
  /** Delivery that it carries. */
  readonly deliveryId?: string;
  /** Delivery that it is the reply to or the notice of. */
  readonly inReplyTo?: string | undefined;
  /** Depth of the chain of messages that led to it. */
  readonly depth: number;
  /** Whether a message started the turn that it works for, so that what holds for messages holds for it too; default false. */
  readonly fromMessage?: boolean;
  /** Whether nobody can answer its prompts. */
  readonly headless: boolean;
  readonly traceparent: string;
  readonly tracestate: string;
  /** Epoch milliseconds. */
  readonly now: number;
}
