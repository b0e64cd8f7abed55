import type { Owner } from "../owner/owner.js";
import { freezePolicy } from "../owner/policy/freezePolicy.js";
import { Policy } from "../gen/talaria/types/v1/policy.js";
import type { GatewayContext, GatewayRooms } from "./gatewayContext.js";
import { createDmRoom } from "./messages/createDmRoom.js";
import { createTurnService } from "./turns/turnService.js";
import { createOwnerRoom } from "./workers/createOwnerRoom.js";

/** Makes the rooms that a served home has. Messages become inputs of the owner's, and its turns send messages. */
export function createServeRooms(context: GatewayContext): GatewayRooms {
  const joined: { owner?: Owner } = {};
  const { dm, room: dmRoom } = createDmRoom(context, {
    freezePolicy: (agent) => Policy.encode(freezePolicy(context.agents.require(agent))).finish(),
    wake: (sessionIds) => joined.owner?.wake(sessionIds),
  });
  const { owner, room: ownerRoom } = createOwnerRoom(
    context,
    {
      messages: dm.workerMessages,
      onDeliveriesChanged: (deliveryIds) => {
        dm.onDeliveriesChanged(deliveryIds);
      },
      relays: () => dm.relays(),
    },
    (made) => [createTurnService(made)],
  );
  joined.owner = owner;
  return { owner: ownerRoom, dm: dmRoom };
}
