import type { ServiceImplementation } from "../rpc/harness/implementService.js";
import { createAdminService } from "./admin/adminService.js";
import { measureLoopDelay } from "./admin/loopDelay.js";
import { createAgentService } from "./agents/agentService.js";
import type { Cleanups } from "./cleanups.js";
import type { GatewayContext, GatewayRooms } from "./gatewayContext.js";
import type { GatewayControl } from "./gatewayControl.js";
import type { OpenListener } from "./gatewayListeners.js";
import { createSessionService } from "./sessions/sessionService.js";

/** The services of the client listeners. */
export function gatewayServices(
  context: GatewayContext,
  rooms: GatewayRooms,
  control: GatewayControl,
  { listeners, undo }: { readonly listeners: () => readonly OpenListener[]; readonly undo: Cleanups },
): readonly ServiceImplementation[] {
  const loopDelay = measureLoopDelay(context.clock);
  undo.add(() => {
    loopDelay.stop();
  });
  return [
    createAgentService(context, rooms.dm),
    createSessionService(context, rooms.owner),
    createAdminService(context, { rooms, control, listeners, loopDelay }),
    ...rooms.owner.clientServices,
    ...rooms.dm.clientServices,
  ];
}
