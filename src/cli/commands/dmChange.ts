import { Delivery, deliveryStateToJSON, type Delivery as DeliveryMessage } from "../../gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../../gen/talaria/dm/v1/direct_message_service.js";
import type { CommandContext } from "../commandContext.js";
import { shortName } from "../render/names.js";

/** Withdraws a message that has not started. */
export async function dmCancel(context: CommandContext, deliveryId: string): Promise<void> {
  const gateway = await context.gateway();
  const { delivery, pending } = await gateway.call(DirectMessageServiceService.cancelDelivery, {
    requestId: context.newRequestId(),
    deliveryId,
  });
  print(context, delivery, pending ? "; the far side has not answered yet" : "");
}

/** Sends a dead letter again. */
export async function dmRedrive(context: CommandContext, deliveryId: string): Promise<void> {
  const gateway = await context.gateway();
  const { delivery } = await gateway.call(DirectMessageServiceService.redriveDelivery, {
    requestId: context.newRequestId(),
    deliveryId,
  });
  print(context, delivery, delivery === undefined ? "" : `, epoch ${String(delivery.attemptEpoch)}`);
}

function print(context: CommandContext, delivery: DeliveryMessage | undefined, more: string): void {
  if (delivery === undefined) return;
  const state = shortName(deliveryStateToJSON(delivery.state), "DELIVERY_STATE_");
  context.print(Delivery.toJSON(delivery), () => `${delivery.deliveryId} ${state}${more}`);
}
