import type { DeliveryEffects } from "../store/deliveries/deliveryEffects.js";
import type { StoredDelivery } from "../store/deliveries/storedDelivery.js";

/**
 * What is done once a change of deliveries is on disk: watchers are told, sessions woken, and the transport of a message that
 * waits for another gateway is set going. Never throws.
 */
export type AfterCommit = (effects: DeliveryEffects, queued?: StoredDelivery) => void;
