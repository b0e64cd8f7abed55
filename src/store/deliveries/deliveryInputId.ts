import { derivedInputId } from "./derivedId.js";
import type { StoredDelivery } from "./storedDelivery.js";

const DELIVERY_PREFIX = "del_";

/** Name of the request that a delivery's attempt epoch makes of its recipient's session. */
export function deliveryRequestId(deliveryId: string, attemptEpoch: number): string {
  return `${deliveryId}.${String(attemptEpoch)}`;
}

/** Id of the input that carries a delivery: the first epoch's bears the delivery's own, which is as unique; later ones are derived. */
export function deliveryInputId({
  deliveryId,
  attemptEpoch,
  createdAt,
}: Pick<StoredDelivery, "deliveryId" | "attemptEpoch" | "createdAt">): string {
  const own = attemptEpoch === 1 && deliveryId.startsWith(DELIVERY_PREFIX);
  return own
    ? `inp_${deliveryId.slice(DELIVERY_PREFIX.length)}`
    : derivedInputId([deliveryRequestId(deliveryId, attemptEpoch)], createdAt);
}
