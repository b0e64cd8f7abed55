import { cutToCodePoints } from "../../../base/codePoints.js";
import { RelayCloseReason } from "../../../gen/talaria/dm/v1/relay_service.js";
import { Reason as WireReason } from "../../../gen/talaria/reason/v1/reason.js";
import { reasonNumber } from "../../../rpc/reasonNumber.js";
import type { Reason } from "../../../rpc/reasons.js";
import { RpcError } from "../../../rpc/rpcError.js";
import type { RelayFrame } from "./relayContext.js";

/** Why a gateway ends a connector's stream: what the close frame says, and the status that the call ends with. */
export interface RelayEnd {
  readonly reason: RelayCloseReason;
  readonly error: RpcError;
}

/** The gateway is going down. */
export function drainingEnd(): RelayEnd {
  return { reason: RelayCloseReason.RELAY_CLOSE_REASON_DRAINING, error: new RpcError("DRAINING") };
}

/** A later connection of the connector took over. */
export function replacedEnd(): RelayEnd {
  return { reason: RelayCloseReason.RELAY_CLOSE_REASON_REPLACED, error: new RpcError("CONNECTOR_REPLACED") };
}

/** The connector does not read. */
export function slowConsumerEnd(): RelayEnd {
  const message = "The connector read too slowly and was cut off.";
  return {
    reason: RelayCloseReason.RELAY_CLOSE_REASON_SLOW_CONSUMER,
    error: new RpcError("SLOW_CONSUMER", { message, hint: "Connect again." }),
  };
}

/** The pairing was ended. */
export function revokedEnd(): RelayEnd {
  return { reason: RelayCloseReason.RELAY_CLOSE_REASON_REVOKED, error: new RpcError("PEER_REVOKED") };
}

const BROKEN: ReadonlySet<Reason> = new Set<Reason>([
  "FRAME_INVALID",
  "FRAME_OUT_OF_PHASE",
  "INVALID_FIELD",
  "MALFORMED_MESSAGE",
  "CONNECT_TIMEOUT",
  "HORIZON_TOO_SHORT",
  "PEER_PROTOCOL_UNSUPPORTED",
]);

/** Something went wrong: the connector broke the protocol or has fallen silent, or this side could not go on. */
export function faultEnd(error: RpcError, silent = false): RelayEnd {
  const broken = silent || BROKEN.has(error.reason);
  const { RELAY_CLOSE_REASON_PROTOCOL, RELAY_CLOSE_REASON_UNSPECIFIED } = RelayCloseReason;
  return { reason: broken ? RELAY_CLOSE_REASON_PROTOCOL : RELAY_CLOSE_REASON_UNSPECIFIED, error };
}

/** The last frame of a stream. */
export function closeFrame({ reason, error }: RelayEnd): RelayFrame {
  const detail =
    reason === RelayCloseReason.RELAY_CLOSE_REASON_PROTOCOL
      ? reasonNumber(error.reason)
      : WireReason.REASON_UNSPECIFIED;
  return { $case: "close", value: { reason, detail, message: cutToCodePoints(error.message, 1_024) } };
}
