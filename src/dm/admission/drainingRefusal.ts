import { reasonError, type RpcError } from "../../rpc/rpcError.js";

/** How long a gateway that drains asks its callers to stay away, milliseconds: about what a restart takes. */
const DRAINING_RETRY_MS = 5_000;

/** The error for what comes, or still watches, while this gateway drains. */
export function drainingRefusal(): RpcError {
  return reasonError("DRAINING", undefined, { retryAfterMs: DRAINING_RETRY_MS });
}
