import { AdminServiceService, GetStatusResponse } from "../../gen/talaria/gateway/v1/admin_service.js";
import { fromDuration } from "../../rpc/wire/times.js";
import type { CommandContext } from "../commandContext.js";
import { localTime } from "../render/names.js";

/** Shows the state of the gateway. */
export async function status(context: CommandContext): Promise<void> {
  const gateway = await context.gateway();
  const found = await gateway.call(AdminServiceService.getStatus, {});
  context.print(GetStatusResponse.toJSON(found), () => describe(found));
}

function describe(found: GetStatusResponse): string {
  const { info, turns, deliveries } = found;
  const delay = fromDuration(found.loopDelayP99) ?? 0;
  const count = (value: bigint | undefined): string => String(value ?? 0n);
  const lines = [
    `gateway    ${info?.name ?? ""} ${info?.version ?? ""}${found.draining ? ", draining" : ""}`,
    `home       ${found.home}`,
    `started    ${localTime(found.startedAt)}, process ${String(found.pid)}, epoch ${String(found.epoch)}`,
    `pin        ${found.pin}`,
    ...found.listeners.map(
      ({ name, address, connections }) => `listens    ${address} (${name}, ${String(connections)} open)`,
    ),
    `workers    ${String(found.workersInUse)} of ${String(found.workersMax)} in use, ${String(found.workersPooled)} pooled`,
    `turns      ${count(turns?.running)} running, ${count(turns?.queued)} queued, ${count(turns?.ended)} ended`,
    `deliveries ${count(deliveries?.claimed)} claimed, ${count(deliveries?.queued)} queued, ${count(deliveries?.ended)} ended`,
    `prompts    ${String(found.openPrompts)} open`,
    `paused     ${String(found.pausedSessions)} sessions`,
    `loop delay ${delay.toFixed(1)} ms`,
    ...found.problems.map(({ message, hint }) => `! ${message} ${hint}`),
  ];
  return lines.join("\n");
}
