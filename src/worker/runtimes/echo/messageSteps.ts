import { DeliveryState, deliveryStateToJSON, type Delivery } from "../../../gen/talaria/dm/v1/delivery.js";
import { RpcError } from "../../../rpc/rpcError.js";
import type { EchoTurn } from "./echoTurn.js";

/** Sends a direct message; a refusal is an answer. */
export async function sendMessage(turn: EchoTurn, target: string, body: string): Promise<string> {
  try {
    const { delivery } = await turn.context.sendDirectMessage({ target, body });
    if (delivery === undefined) return `dm to ${target}: no delivery`;
    turn.lastDeliveryId = delivery.deliveryId;
    return `dm to ${target}: ${describe(delivery)}`;
  } catch (error) {
    return `dm to ${target}: refused ${refusalOf(error)}`;
  }
}

/** Looks at a delivery; a refusal is an answer. */
export async function checkDelivery(turn: EchoTurn, deliveryId: string): Promise<string> {
  const id = deliveryId === "last" ? turn.lastDeliveryId : deliveryId;
  try {
    return `delivery: ${describe(await turn.context.getDelivery(id))}`;
  } catch (error) {
    return `delivery ${id}: refused ${refusalOf(error)}`;
  }
}

/** The reason of a refusal. @throws the error itself where it is none. */
export function refusalOf(error: unknown): string {
  if (error instanceof RpcError) return error.wireReason ?? error.reason;
  throw error;
}

function describe(delivery: Delivery): string {
  const words = [delivery.deliveryId, deliveryStateToJSON(delivery.state).replace("DELIVERY_STATE_", "").toLowerCase()];
  if (delivery.state === DeliveryState.DELIVERY_STATE_REPLIED && delivery.reply !== undefined)
    words.push(delivery.reply.text);
  return words.join(" ");
}
