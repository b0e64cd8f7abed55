import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";

/** A message that is on disk. */
export interface Admitted {
  readonly delivery: StoredDelivery;
  /** Place in its lane, 1 is next; 0 when it does not wait. */
  readonly position: number;
  /** Whether an earlier call made the delivery. */
  readonly replayed: boolean;
}
