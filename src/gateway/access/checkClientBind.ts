import type { ListenAddress } from "../../base/config/gatewayConfig.js";
import { isLoopback } from "../../base/loopback.js";
import { RpcError } from "../../rpc/rpcError.js";

/** Tokens may cross a wire only under TLS. @throws RpcError TRANSPORT_INSECURE for a client listener beyond loopback. */
export function checkClientBind({ host, port }: ListenAddress): void {
  if (isLoopback(host)) return;
  throw new RpcError("TRANSPORT_INSECURE", {
    message: `listeners.client_tcp would listen on ${host}:${String(port)} without TLS: tokens would cross the network in the clear.`,
    hint: "Set listeners.client_tcp.host to 127.0.0.1 and reach it through SSH or a proxy that ends TLS.",
    metadata: { host, setting: "listeners.client_tcp.host" },
  });
}
