import type { Failure } from "../gen/talaria/types/v1/failure.js";
import { reasonOfNumber } from "../rpc/reasons.js";
import { RpcError } from "../rpc/rpcError.js";

/** The error for a failure that came over the relay, so that this machine's gateway sees the far reason as it is. */
export function errorOfFailure({ reason, message, hint, foreignReason }: Failure): RpcError {
  const known = reasonOfNumber(reason);
  const texts = { ...(message === "" ? {} : { message }), ...(hint === "" ? {} : { hint }) };
  if (known !== undefined) return new RpcError(known, texts);
  return new RpcError("PEER_REFUSED", { ...texts, ...(foreignReason === "" ? {} : { wireReason: foreignReason }) });
}

/** The error while there is no way to the gateway that relays: nothing was sent. */
export function hubAway(): RpcError {
  return new RpcError("PEER_UNREACHABLE", { message: "The connector has no connection to the gateway that relays." });
}
