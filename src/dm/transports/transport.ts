import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";

/** What came of asking a far side to withdraw a message. */
export type FarCancellation =
  /** It confirmed, and that is stored. */
  | "cancelled"
  /** It could not be asked, or has not answered: the message may still run. */
  | "pending"
  /** Its turn has started there, or has ended. */
  | "started";

/**
 * A way by which messages leave this gateway. Messages of its lanes are committed QUEUED before it hears of them; it moves them
 * to their ends through the store's commands, so that it may be killed at any point and go on after a start.
 */
export interface Transport {
  /** Name of the transport, for logs. */
  readonly kind: "peer" | "relay";
  /** Whether it serves this destination. */
  serves(gateway: string): boolean;
  /** Starts to move what waits. */
  start(): Promise<void>;
  /** Says that a message waits for this destination. */
  kick(gateway: string): void;
  /**
   * Asks the far side to withdraw a message that it holds or may hold.
   * @param withheld whether nothing of it is on its way: then it is withdrawn too where the far side does not know it
   */
  cancel(delivery: StoredDelivery, withheld: boolean): Promise<FarCancellation>;
  /**
   * Begins no attempt at this message until what is returned is called: what is decided about it meanwhile holds.
   * @returns undefined where an attempt is on its way already
   */
  withhold(delivery: Pick<StoredDelivery, "deliveryId" | "recipientGateway">): (() => void) | undefined;
  /** Ids of every message whose attempt is on its way. */
  inFlight(): readonly string[];
  /** Starts nothing more and waits for what is on its way. */
  drain(): Promise<void>;
  /** Ends at once. */
  close(): Promise<void>;
}
