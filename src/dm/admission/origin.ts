import type { StoredHop } from "../../store/deliveries/storedDelivery.js";

/** Who brings a message to the door, as the listener derived it. */
export type Origin =
  | {
      readonly kind: "client";
      /** Name of the client principal. */
      readonly principal: string;
      /** Agent to send as; the caller has checked that the client may. */
      readonly onBehalfOf?: string;
    }
  | {
      readonly kind: "agent";
      /** The turn's own agent. */
      readonly agent: string;
      /** The turn's session: it is told of the end. */
      readonly sessionId: string;
      /** Id of the author whose message started the turn; empty when none did. */
      readonly startedBy: string;
    }
  | {
      readonly kind: "peer";
      /** What this gateway calls the peer or connector. */
      readonly peer: string;
      /** Whether a relay connector brings it. */
      readonly relay: boolean;
      /** The sending agent's name there; empty for a client of the peer. */
      readonly agent: string;
      /** Its title there; untrusted. */
      readonly title: string;
      /** Epoch milliseconds. */
      readonly expiresAt: number;
      readonly attemptEpoch: number;
      readonly attempt: number;
      readonly hops: readonly StoredHop[];
    };

/** A message at the door. */
export interface IncomingMessage {
  readonly origin: Origin;
  /** The sender's key; empty from an agent only. */
  readonly key: string;
  /** As typed. */
  readonly target: string;
  readonly body: string;
  /** Empty for none. */
  readonly inReplyTo: string;
  /** Depth of the message in its chain, from 1. */
  readonly depth: number;
  /** W3C trace context; an empty or broken one starts a trace. */
  readonly traceparent: string;
  readonly tracestate: string;
}
