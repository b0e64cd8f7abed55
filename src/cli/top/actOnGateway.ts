import { DirectMessageServiceService } from "../../gen/talaria/dm/v1/direct_message_service.js";
import { AdminServiceService } from "../../gen/talaria/gateway/v1/admin_service.js";
import { TurnServiceService } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { GatewayClient } from "../gatewayClient.js";
import type { TopAction } from "./topState.js";

/** Does what a key asked for. @returns what to tell the person. @throws RpcError. */
export async function actOnGateway(
  gateway: GatewayClient,
  action: Exclude<TopAction, { kind: "quit" }>,
  requestId: string,
): Promise<string> {
  switch (action.kind) {
    case "answer": {
      const { promptId, answer } = action;
      await gateway.call(TurnServiceService.answerPrompt, { requestId, promptId, answer });
      return "Answered.";
    }
    case "stop":
      await gateway.call(TurnServiceService.stopTurn, { requestId, executionId: action.executionId });
      return "Asked to stop.";
    case "acknowledge": {
      const { sessionId, executionId } = action;
      await gateway.call(TurnServiceService.acknowledgeUnknown, { requestId, sessionId, executionId });
      return "Acknowledged: the session goes on.";
    }
    case "cancel":
      await gateway.call(DirectMessageServiceService.cancelDelivery, { requestId, deliveryId: action.deliveryId });
      return "Cancelled, or asked where it is to cancel it.";
    case "redrive":
      await gateway.call(DirectMessageServiceService.redriveDelivery, { requestId, deliveryId: action.deliveryId });
      return "Sent again.";
    case "hold": {
      const { destination: name } = action;
      await gateway.call(AdminServiceService.holdDestination, { requestId, name, reason: "held in talaria top" });
      return `${name} is held.`;
    }
    case "release":
      await gateway.call(AdminServiceService.releaseDestination, {
        requestId,
        name: action.destination,
        keepHold: false,
      });
      return `${action.destination} is released.`;
  }
}
