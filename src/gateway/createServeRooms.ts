import type { Owner } from "../owner/owner.js";
import type { GatewayContext, GatewayRooms } from "./gatewayContext.js";
import { createDmRoom } from "./messages/createDmRoom.js";
import type { Notifier } from "./notify/notifier.js";
import { frozenPolicies } from "./messages/frozenPolicies.js";
import { createTurnService } from "./turns/turnService.js";
import { createOwnerRoom } from "./workers/createOwnerRoom.js";

/** Makes the rooms that a served home has. Messages become inputs of the owner's, and its turns send messages. */
export function createServeRooms(context: GatewayContext): GatewayRooms {
  const frozen = frozenPolicies();
  const joined: { owner?: Owner; notifier?: Pick<Notifier, "notify"> } = {};
  const {
    dm,
    elsewhere,
    room: dmRoom,
  } = createDmRoom(
    context,
    {
      freezePolicy: (agent) => frozen(context.agents.require(agent)),
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
    (made) => [createTurnService(made, context.storage)],
  );
  joined.owner = owner;
  joined.notifier = notifier;
  return { owner: ownerRoom, dm: dmRoom };
}
