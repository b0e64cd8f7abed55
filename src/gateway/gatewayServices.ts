import type { ServiceImplementation } from "../rpc/harness/implementService.js";
import { createAdminService } from "./admin/adminService.js";
import { createAgentService } from "./agents/agentService.js";
import type { GatewayContext, GatewayRooms } from "./gatewayContext.js";
import type { GatewayControl } from "./gatewayControl.js";
import type { OpenListener } from "./gatewayListeners.js";
import { createSessionService } from "./sessions/sessionService.js";

/** The services of the client listeners. */
export function gatewayServices(
  context: GatewayContext,
  rooms: GatewayRooms,
  control: GatewayControl,
  listeners: () => readonly OpenListener[],
): readonly ServiceImplementation[] {
  return [
    createAgentService(context, rooms.dm),
    createSessionService(context, rooms.owner),
    createAdminService(context, { rooms, control, listeners }),
    ...rooms.owner.clientServices,
    ...rooms.dm.clientServices,
  ];
}
