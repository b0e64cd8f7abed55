import { startGateway, type Gateway } from "../../src/gateway/gateway.js";
import type { GatewayContext, GatewayRooms } from "../../src/gateway/gatewayContext.js";
import { createDmRoom } from "../../src/gateway/messages/createDmRoom.js";
import { frozenPolicies } from "../../src/gateway/messages/frozenPolicies.js";
import { createTurnService } from "../../src/gateway/turns/turnService.js";
import { createOwnerRoom } from "../../src/gateway/workers/createOwnerRoom.js";
import type { Owner } from "../../src/owner/owner.js";

/** A gateway in this process whose owner can be looked into. */
export interface BenchGateway {
  readonly gateway: Gateway;
  readonly owner: Owner;
  readonly context: GatewayContext;
}

/** What may differ from a served home. */
export interface BenchGatewayOptions {
  readonly home: string;
  /** Whether messages start turns; default true. */
  readonly turnsStart?: boolean;
  /** Told of what the gateway works with, before anything of it runs. */
  readonly onContext?: (context: GatewayContext) => void;
  /** Changes what direct messages are made from. */
  readonly forMessages?: (context: GatewayContext) => GatewayContext;
}

/** Starts a gateway with the rooms that a served home has. */
export async function startBenchGateway(options: BenchGatewayOptions): Promise<BenchGateway> {
  const made: { owner?: Owner; context?: GatewayContext } = {};
  const gateway = await startGateway({ home: options.home }, (context) => {
    made.context = context;
    options.onContext?.(context);
    return makeRooms(context, made, options);
  });
  const { owner, context } = made;
  if (owner === undefined || context === undefined) throw new Error("the rooms were not made");
  return { gateway, owner, context };
}

/** The same rooms as a served home's; the owner is kept for the caller. */
function makeRooms(
  context: GatewayContext,
  made: { owner?: Owner },
  { turnsStart = true, forMessages = (same) => same }: BenchGatewayOptions,
): GatewayRooms {
  const frozen = frozenPolicies();
  const { dm, room: dmRoom } = createDmRoom(forMessages(context), {
    freezePolicy: (agent) => frozen(context.agents.require(agent)),
    wake: (sessionIds) => {
      if (turnsStart) made.owner?.wake(sessionIds);
    },
  });
  const { owner, room } = createOwnerRoom(
    context,
    {
      messages: dm.workerMessages,
      onDeliveriesChanged: (deliveryIds) => {
        dm.onDeliveriesChanged(deliveryIds);
      },
      elsewhere: () => ({}),
    },
    (one) => [createTurnService(one, context.storage)],
  );
  made.owner = owner;
  return { owner: room, dm: dmRoom };
}
