import type { ClientListenAddress } from "../../base/config/gatewayConfig.js";
import { isLoopback } from "../../base/loopback.js";
import { RpcError } from "../../rpc/rpcError.js";

/** Tokens may cross a wire only under TLS. @throws RpcError TRANSPORT_INSECURE for a client listener beyond loopback. */
export function checkClientBind({ host, port, tls }: ClientListenAddress): void {
  if (tls !== undefined || isLoopback(host)) return;
  throw new RpcError("TRANSPORT_INSECURE", {
    message: `listeners.client_tcp would listen on ${host}:${String(port)} without TLS: tokens would cross the network in the clear.`,
    hint: "Turn TLS on with listeners.client_tcp.tls: {} (clients pin the home's key) or its cert and key; or set the host to 127.0.0.1.",
    metadata: { host, setting: "listeners.client_tcp.tls" },
  });
}
