import {
  AdminServiceService,
  BreakerState,
  PeerLink,
  type GetStatusResponse,
} from "../../gen/talaria/gateway/v1/admin_service.js";
import { fromDuration } from "../../rpc/wire/times.js";
import type { GatewayClient } from "../gatewayClient.js";
import { failureText } from "../render/failureText.js";
import { type Finding, ok, problem, skipped, warning } from "./finding.js";

/** Delay of the gateway's loop from which on everybody feels it, milliseconds. */
const LATE_LOOP_MS = 200;

/** What the running gateway says of itself. */
export function checkStatus(status: GetStatusResponse): readonly Finding[] {
  const { info, pid, problems, draining, pausedSessions, loopDelayP99 } = status;
  const name = `${info?.name ?? ""} ${info?.version ?? ""}, process ${String(pid)}`;
  const late = fromDuration(loopDelayP99) ?? 0;
  return [
    draining ? warning("gateway", `${name} is draining.`, "Start it again when it has ended.") : ok("gateway", name),
    ...problems.map(({ message, hint }) => problem("gateway", message, hint)),
    ...(pausedSessions === 0
      ? []
      : [
          warning(
            "gateway",
            `${String(pausedSessions)} sessions wait behind a turn whose outcome is unknown.`,
            "Look at what it did (talaria sessions), then acknowledge it.",
          ),
        ]),
    ...(late < LATE_LOOP_MS
      ? []
      : [
          warning(
            "gateway",
            `Its loop runs ${late.toFixed(0)} ms late.`,
            "Give the machine more room, or lower workers.max.",
          ),
        ]),
  ];
}

/** Whether the peers are reached. */
export async function checkPeers(gateway: Pick<GatewayClient, "call">): Promise<readonly Finding[]> {
  const [{ peers }, { destinations }] = await Promise.all([
    gateway.call(AdminServiceService.listPeers, {}),
    gateway.call(AdminServiceService.listDestinations, {}),
  ]);
  if (peers.length === 0) return [skipped("peers", "There are no peers.")];
  return [
    ...peers.map(({ name, link, address, lastError }) =>
      link === PeerLink.PEER_LINK_DOWN
        ? problem(
            "peers",
            `${name} is not reached at ${address}${lastError === undefined ? "." : `: ${failureText(lastError)}`}`,
            lastError?.hint === undefined || lastError.hint === ""
              ? "Check that it runs and its address."
              : lastError.hint,
          )
        : ok("peers", name),
    ),
    ...destinations.flatMap(({ name, heldBy, holdReason, waiting, breaker }) => {
      const count = String(waiting);
      if (heldBy !== "") {
        const message = `${name} is held by ${heldBy}: ${holdReason}; ${count} messages wait.`;
        return [warning("peers", message, `talaria destinations release ${name}`)];
      }
      if (breaker !== BreakerState.BREAKER_STATE_OPEN) return [];
      return [
        warning("peers", `${count} messages wait for ${name}.`, `talaria destinations release ${name} tries at once.`),
      ];
    }),
  ];
}
