import type { Principal } from "../../rpc/principal.js";
import { describePrincipal } from "../../rpc/principal.js";
import { RpcError } from "../../rpc/rpcError.js";

/** The caller as stored with what it asked for: `client:<name>`. @throws RpcError PERMISSION_DENIED for anyone but a client. */
export function clientPrincipal(principal: Principal): string {
  if (principal.kind !== "client") throw new RpcError("PERMISSION_DENIED");
  return describePrincipal(principal);
}
