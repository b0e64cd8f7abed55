import {
  AdminServiceService,
  BreakerState,
  PeerLink,
  type GetStatusResponse,
  type Peer,
} from "../../gen/talaria/gateway/v1/admin_service.js";
import type { GatewayInfo } from "../../gen/talaria/dm/v1/roster.js";
import { Reason } from "../../gen/talaria/reason/v1/reason.js";
import { fromDuration } from "../../rpc/wire/times.js";
import type { GatewayClient } from "../gatewayClient.js";
import { clockText, surelyOffMs } from "../render/clockText.js";
import { failureText } from "../render/failureText.js";
import { localTime } from "../render/names.js";
import { type Finding, ok, problem, skipped, warning } from "./finding.js";

/** Delay of the gateway's loop from which on everybody feels it, milliseconds. */
const LATE_LOOP_MS = 200;

/** Difference between two gateways' clocks that is not a message's way any more, milliseconds. Source: `expiryHere` of the messages. */
const CLOCK_NOTICED_MS = 60_000;

/** Difference that is made up for, milliseconds: a day. Source: the same, and the tolerance of certificates' dates. */
const CLOCK_MADE_UP_MS = 24 * 60 * 60_000;

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
            "Look at what it did (talaria sessions list, show), then: talaria sessions acknowledge SESSION",
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

/** Whether the peers are reached, and whether this gateway and they understand one another. */
export async function checkPeers(
  gateway: Pick<GatewayClient, "call">,
  own: GatewayInfo | undefined,
): Promise<readonly Finding[]> {
  const [{ peers }, { destinations }] = await Promise.all([
    gateway.call(AdminServiceService.listPeers, {}),
    gateway.call(AdminServiceService.listDestinations, {}),
  ]);
  if (peers.length === 0) return [skipped("peers", "There are no peers.")];
  return [
    ...peers.flatMap((peer) => [reached(peer), ...understood(peer, own), ...inStep(peer)]),
    ...destinations.flatMap(({ name, heldBy, holdReason, waiting, breaker }) => {
      const count = String(waiting);
      if (heldBy !== "") {
        const message = `${name} is held by ${heldBy}: ${holdReason}; ${count} messages wait.`;
        return [warning("peers", message, `talaria destinations release ${name}`)];
      }
      if (breaker !== BreakerState.BREAKER_STATE_OPEN || waiting === 0n) return [];
      return [
        warning("peers", `${count} messages wait for ${name}.`, `talaria destinations release ${name} tries at once.`),
      ];
    }),
  ];
}

function reached({ name, link, address, connector, lastError, lastSeenAt, info }: Peer): Finding {
  const version = info === undefined || info.version === "" ? "" : ` (version ${info.version})`;
  if (link !== PeerLink.PEER_LINK_DOWN) return ok("peers", `${name}${version}`);
  const seen = lastSeenAt === undefined ? "" : `, last seen ${localTime(lastSeenAt)}`;
  const where = connector ? "" : ` at ${address}`;
  const why = lastError === undefined ? "." : `: ${failureText(lastError)}`;
  const fix = lastError?.hint ?? "";
  const said = `${name} is not reached${where}${seen}${why}`;
  if (lastError?.reason === Reason.REASON_PEER_PIN_MISMATCH) {
    const again = `Ask its operator for the pin that talaria pin prints there. Where the key was replaced on purpose: talaria peers revoke ${name}, then pair again.`;
    return problem("peers", said, again);
  }
  const start = connector
    ? "Start its connector: talaria relay connect"
    : `Check that it runs; a new address is told by: talaria peers update ${name} --address ADDRESS`;
  return problem("peers", said, fix === "" ? start : fix);
}

/**
 * Whether a peer's clock agrees with the gateway's. A message's expiry is set right for a difference between a minute and a day, and
 * certificates are taken up to a day outside their dates.
 */
function inStep({ name, clock }: Peer): readonly Finding[] {
  const off = surelyOffMs(clock);
  if (off < CLOCK_NOTICED_MS) return [];
  const said = `The clock of ${name} is ${clockText(clock)} of this gateway's.`;
  const fix = "Set the one that is wrong; a time service keeps it right.";
  if (off < CLOCK_MADE_UP_MS) {
    return [
      warning("peers", said, `${fix} Messages are answered and expire in time meanwhile: up to a day is made up for.`),
    ];
  }
  const harm =
    "More than a day is not made up for: messages expire too early or too late, and certificates may be refused.";
  return [problem("peers", `${said} ${harm}`, fix)];
}

/** What a peer has said of its protocol against this gateway's own. */
function understood({ name, info }: Peer, own: GatewayInfo | undefined): readonly Finding[] {
  if (info === undefined || own === undefined || info.protocolMax === 0) return [];
  const theirs = `${String(info.protocolMin)} to ${String(info.protocolMax)}`;
  const ours = `${String(own.protocolMin)} to ${String(own.protocolMax)}`;
  if (info.protocolMin <= own.protocolMax && own.protocolMin <= info.protocolMax) return [];
  const older = info.protocolMax < own.protocolMin ? name : "this gateway";
  return [problem("peers", `${name} speaks the protocol ${theirs}, this gateway ${ours}.`, `Update ${older}.`)];
}
