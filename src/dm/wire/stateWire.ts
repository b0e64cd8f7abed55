import { DeliveryRoute, DeliveryState } from "../../gen/talaria/dm/v1/delivery.js";
import type { DeliveryState as StoredState } from "../../store/deliveries/deliveryState.js";
import type { DeliveryRoute as StoredRoute } from "../../store/deliveries/storedDelivery.js";

/** States as the contract numbers them. */
export const WIRE_STATE: Readonly<Record<StoredState, DeliveryState>> = {
  queued: DeliveryState.DELIVERY_STATE_QUEUED,
  claimed: DeliveryState.DELIVERY_STATE_CLAIMED,
  replied: DeliveryState.DELIVERY_STATE_REPLIED,
  silent: DeliveryState.DELIVERY_STATE_SILENT,
  failed: DeliveryState.DELIVERY_STATE_FAILED,
  expired: DeliveryState.DELIVERY_STATE_EXPIRED,
  cancelled: DeliveryState.DELIVERY_STATE_CANCELLED,
  unknown: DeliveryState.DELIVERY_STATE_UNKNOWN,
};

const STORED = new Map(Object.entries(WIRE_STATE).map(([stored, wire]) => [wire, stored as StoredState]));

/** The stored state of a number of the contract; undefined for 0 and numbers of later versions. */
export function storedState(state: DeliveryState): StoredState | undefined {
  return STORED.get(state);
}

/** Routes as the contract numbers them. */
export const WIRE_ROUTE: Readonly<Record<StoredRoute, DeliveryRoute>> = {
  local: DeliveryRoute.DELIVERY_ROUTE_LOCAL,
  peer_outbound: DeliveryRoute.DELIVERY_ROUTE_PEER_OUTBOUND,
  peer_inbound: DeliveryRoute.DELIVERY_ROUTE_PEER_INBOUND,
  relay_outbound: DeliveryRoute.DELIVERY_ROUTE_RELAY_OUTBOUND,
  relay_inbound: DeliveryRoute.DELIVERY_ROUTE_RELAY_INBOUND,
};
