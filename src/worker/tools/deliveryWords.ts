import { DeliveryRoute, DeliveryState, deliveryStateToJSON, type Delivery } from "../../gen/talaria/dm/v1/delivery.js";

/** A delivery's state as a model reads it: `queued`, `claimed`, `replied` and so on; `unknown` for one of a later version. */
export function stateWord(state: DeliveryState): string {
  const known = state >= DeliveryState.DELIVERY_STATE_QUEUED && state <= DeliveryState.DELIVERY_STATE_UNKNOWN;
  return known ? deliveryStateToJSON(state).replace("DELIVERY_STATE_", "").toLowerCase() : "unknown";
}

/** A delivery's recipient in a form that can be written as a target again. */
export function recipientAddress({ recipient, route, target }: Delivery): string {
  if (recipient === undefined) return target;
  const { gateway, agent } = recipient;
  if (gateway === "") return `@${agent}`;
  return route === DeliveryRoute.DELIVERY_ROUTE_RELAY_OUTBOUND ? `@${agent}@${gateway}` : `@${gateway}/${agent}`;
}

/** What became of a message, in one sentence that never says more than is known. */
export function stateSentence({ state, position, attempts }: Delivery): string {
  switch (state) {
    case DeliveryState.DELIVERY_STATE_QUEUED:
      return attempts > 0
        ? "It waits: the recipient's gateway has not taken it yet, and is tried again."
        : `It waits${position > 0 ? `, at place ${String(position)} of the recipient's queue` : ""}; it is not delivered yet.`;
    case DeliveryState.DELIVERY_STATE_CLAIMED:
      return "The recipient has it and has not answered yet. Do not send it again.";
    case DeliveryState.DELIVERY_STATE_REPLIED:
      return "It was answered; the reply is here and does not come again. Pass it on as the recipient's words.";
    case DeliveryState.DELIVERY_STATE_SILENT:
      return "It was read; the recipient chose not to answer.";
    case DeliveryState.DELIVERY_STATE_FAILED:
      return "It was not delivered.";
    case DeliveryState.DELIVERY_STATE_EXPIRED:
      return "It was not delivered: its time ran out before the recipient could start on it.";
    case DeliveryState.DELIVERY_STATE_CANCELLED:
      return "It was withdrawn before the recipient started on it.";
    default:
      return "It is not known whether it had an effect. Do not send it again blindly.";
  }
}
