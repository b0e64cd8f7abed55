import type { Budgets } from "../base/budgets.js";
import { LIMITS } from "../base/limits.js";
import type { GatewayInfo } from "../gen/talaria/dm/v1/roster.js";
import type { RpcError } from "../rpc/rpcError.js";
import { reasonError } from "../rpc/rpcError.js";
import { fromDuration, toDuration, toOptionalTimestamp } from "../rpc/wire/times.js";

/** Contract revisions that this program speaks. */
export const PROTOCOL = Object.freeze({ min: 1, max: 1 });

/** Who this gateway is. */
export interface GatewayIdentity {
  /** Its own name. */
  readonly name: string;
  /** Version of the program. */
  readonly version: string;
  /** Names its database. */
  readonly storeId: string;
}

/**
 * What this gateway tells the other side at connect.
 * @param saidAt its clock, epoch milliseconds; left out where the other side has no use for it
 */
export function gatewayInfo(
  { name, version, storeId }: GatewayIdentity,
  budgets: Budgets,
  saidAt?: number,
): GatewayInfo {
  return {
    name,
    version,
    protocolMin: PROTOCOL.min,
    protocolMax: PROTOCOL.max,
    dedupeHorizon: toDuration(budgets.dedupeHorizonMs),
    messageLifetime: toDuration(budgets.messageLifetimeMs),
    maxBodyCodePoints: LIMITS.bodyCodePoints,
    storeId,
    saidAt: toOptionalTimestamp(saidAt),
  };
}

function speaks(other: GatewayInfo): boolean {
  return other.protocolMin <= PROTOCOL.max && other.protocolMax >= PROTOCOL.min;
}

/**
 * Refuses a caller that says of itself that it speaks no contract revision of ours; one that says nothing may be any program that is
 * written against the contract. @throws RpcError PEER_PROTOCOL_UNSUPPORTED.
 */
export function checkCaller(caller: GatewayInfo | undefined): void {
  if (caller !== undefined && !speaks(caller)) throw reasonError("PEER_PROTOCOL_UNSUPPORTED");
}

/**
 * Why messages must not be sent to a gateway that says this of itself, or undefined: no contract revision in common, or a
 * memory of keys that is shorter than the life of our messages, so that a late retry would be taken for another message.
 */
export function whyUnfit(other: GatewayInfo, budgets: Budgets): RpcError | undefined {
  if (!speaks(other)) return reasonError("PEER_PROTOCOL_UNSUPPORTED");
  const horizonMs = fromDuration(other.dedupeHorizon) ?? 0;
  return horizonMs <= budgets.messageLifetimeMs ? reasonError("HORIZON_TOO_SHORT") : undefined;
}
