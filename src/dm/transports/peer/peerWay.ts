import type { GatewayInfo } from "../../../gen/talaria/dm/v1/roster.js";

/** What is known of the way to a peer. */
export interface PeerWay {
  /** Whether its receipts are being watched. */
  readonly connected: boolean;
  /** What it said of itself last; undefined before the first connect of this start. */
  readonly info: GatewayInfo | undefined;
  /** When it last said something, epoch milliseconds. */
  readonly seenAt: number | undefined;
}
