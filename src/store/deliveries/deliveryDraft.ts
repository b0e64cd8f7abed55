import type { StoredAuthor } from "../turns/storedAuthor.js";
import type { DeliveryRoute, StoredHop } from "./storedDelivery.js";

/** How much may wait, and how fast a pair of agents may go on. */
export interface AdmissionBounds {
  /** Queued for one recipient by one sender. */
  readonly queuedPerRecipientAndSender: number;
  /** Queued for one recipient. */
  readonly queuedPerRecipient: number;
  /** Queued in the home. */
  readonly queuedPerHome: number;
  /** Bodies kept in the home, bytes of UTF-8. */
  readonly bodyBytesPerHome: number;
  /** Messages of a pair in the window that trip the loop guard. */
  readonly loopMessages: number;
  /** The window, milliseconds. */
  readonly loopWindowMs: number;
  /** How long a tripped guard refuses, milliseconds. */
  readonly loopCooldownMs: number;
}

/** A `Bot Chat` to use, with what it is created from if it is missing. */
export interface BotChatDraft {
  readonly agent: string;
  /** A fresh session id. */
  readonly sessionId: string;
  /** The agent's frozen policy. */
  readonly policy: Uint8Array;
}

/** A checked and resolved message that asks to be admitted. Plain data. Times are epoch milliseconds. */
export interface DeliveryDraft {
  /** A fresh id. */
  readonly deliveryId: string;
  /** See {@link "./storedDelivery.js".StoredDelivery.principalScope}. */
  readonly principalScope: string;
  /**
   * The sender's key, never empty where the message came from elsewhere; empty takes an open delivery of the same digest, else
   * the delivery's own id as key.
   */
  readonly key: string;
  readonly digest: Uint8Array;
  readonly route: DeliveryRoute;
  readonly sender: StoredAuthor;
  /** Line that names the sender in the recipient's session. */
  readonly attribution: string;
  /** Session to tell of the end; a `Bot Chat` where the message is sent on an agent's behalf. */
  readonly replyTo?:
    | { readonly kind: "session"; readonly sessionId: string }
    | { readonly kind: "botChat"; readonly chat: BotChatDraft }
    | undefined;
  /** Id of the author whose message started the turn that sends this; empty when none did. */
  readonly startedBy: string;
  readonly target: string;
  readonly recipientGateway: string;
  readonly recipientAgent: string;
  readonly recipientName: string;
  readonly body: string;
  readonly bodyBytes: number;
  readonly bodyCodePoints: number;
  readonly inReplyTo: string;
  readonly depth: number;
  readonly attemptEpoch: number;
  /** Attempt of the sending gateway that brought it; 1 for a message of this gateway. */
  readonly attempt: number;
  /** Acceptances before this one. */
  readonly hops: readonly StoredHop[];
  readonly expiresAt: number;
  readonly traceparent: string;
  readonly tracestate: string;
  /** The recipient's `Bot Chat`, where it is an agent of this gateway. */
  readonly recipientChat?: BotChatDraft | undefined;
  /** How this gateway calls itself, for its hop. */
  readonly gateway: string;
  readonly bounds: AdmissionBounds;
  readonly now: number;
}
