import type { Owner } from "../owner/owner.js";
import { freezePolicy } from "../owner/policy/freezePolicy.js";
import { Policy } from "../gen/talaria/types/v1/policy.js";
import type { GatewayContext, GatewayRooms } from "./gatewayContext.js";
import { createDmRoom } from "./messages/createDmRoom.js";
import type { Notifier } from "./notify/notifier.js";
import { createTurnService } from "./turns/turnService.js";
import { createOwnerRoom } from "./workers/createOwnerRoom.js";

/** Makes the rooms that a served home has. Messages become inputs of the owner's, and its turns send messages. */
export function createServeRooms(context: GatewayContext): GatewayRooms {
  const joined: { owner?: Owner; notifier?: Pick<Notifier, "notify"> } = {};
  const {
    dm,
    elsewhere,
    room: dmRoom,
  } = createDmRoom(
    context,
    {
      freezePolicy: (agent) => Policy.encode(freezePolicy(context.agents.require(agent))).finish(),
      wake: (sessionIds) => joined.owner?.wake(sessionIds),
    },
    (notification) => joined.notifier?.notify(notification),
  );
  const {
    owner,
    room: ownerRoom,
    notifier,
  } = createOwnerRoom(
    context,
    {
      messages: dm.workerMessages,
      onDeliveriesChanged: (deliveryIds, dead) => {
        dm.onDeliveriesChanged(deliveryIds, dead);
      },
      elsewhere,
    },
    (made) => [createTurnService(made)],
  );
  joined.owner = owner;
  joined.notifier = notifier;
  return { owner: ownerRoom, dm: dmRoom };
}
